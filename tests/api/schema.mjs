// tests/api/schema.mjs -- whether JSON is as a schema of openapi.json has it: the words of JSON Schema
// that the server writes, and no others.

const IS = {
    object: (v) => v !== null && typeof v === 'object' && !Array.isArray(v),
    array: Array.isArray,
    string: (v) => typeof v === 'string',
    number: (v) => typeof v === 'number',
    integer: Number.isInteger,
    boolean: (v) => typeof v === 'boolean',
    null: (v) => v === null,
};
const WORDS = ['$ref', 'type', 'anyOf', 'allOf', 'enum', 'items', 'minItems', 'maxItems', 'properties', 'required', 'additionalProperties', 'description'];

/** Of an object that is as several schemas say, all that they say. */
function joined(schema, schemas) {
    if (schema.$ref) return joined(schemas[schema.$ref.replace('#/components/schemas/', '')], schemas);
    if (!schema.allOf) return schema;
    return schema.allOf.map((s) => joined(s, schemas)).reduce((a, b) => ({
        type: 'object', properties: { ...a.properties, ...b.properties }, required: [...a.required ?? [], ...b.required ?? []],
    }));
}

/** What of the value is not as the schema says: "report.modes.static.latency is missing". */
export function faults(value, schema, schemas, path = 'report') {
    const unknown = Object.keys(schema).filter((word) => !WORDS.includes(word));
    if (unknown.length) throw new Error(`${path}: the schema says ${unknown}`);
    if (schema.$ref) return faults(value, schemas[schema.$ref.replace('#/components/schemas/', '')], schemas, path);
    if (schema.allOf) return faults(value, joined(schema, schemas), schemas, path);
    if (schema.anyOf) {
        const all = schema.anyOf.map((s) => faults(value, s, schemas, path));
        return all.reduce((a, b) => (b.length < a.length ? b : a)); // what it is most like
    }
    if (schema.enum && !schema.enum.includes(value)) return [`${path} is ${JSON.stringify(value)}, not one of ${schema.enum}`];
    if (schema.type && !IS[schema.type](value)) return [`${path} is ${JSON.stringify(value)?.slice(0, 60)}, not of type ${schema.type}`];
    if (schema.type === 'array') return [
        ...value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? Infinity) ? [`${path} has ${value.length} items`] : [],
        ...value.flatMap((v, i) => faults(v, schema.items, schemas, `${path}[${i}]`)),
    ];
    if (schema.type !== 'object') return [];
    return [
        ...(schema.required ?? []).filter((key) => !(key in value)).map((key) => `${path}.${key} is missing`),
        ...Object.entries(value).flatMap(([key, v]) => {
            const of = schema.properties?.[key] ?? schema.additionalProperties;
            return of ? faults(v, of, schemas, `${path}.${key}`) : [`${path}.${key} is not in the schema`];
        }),
    ];
}
