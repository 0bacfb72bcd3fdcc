// tests/api/readers.mjs -- what others read our files with, from npm by version: each throws where its reader would complain.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = resolve('web/node_modules');
const require = createRequire(join(modules, 'x.js'));

/** SARIF by the schema of the standard; what code scanning asks for beyond it: known rules, places within the repository. */
export function readSarif(text) {
    const Ajv = require('ajv');
    const ajv = new Ajv({ schemaId: 'auto', allErrors: true, unknownFormats: 'ignore' });
    ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'));
    const check = ajv.compile(JSON.parse(readFileSync(require.resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'), 'utf8')));
    const sarif = JSON.parse(text);
    assert.ok(check(sarif), JSON.stringify(check.errors?.slice(0, 5)));
    for (const { tool, results } of sarif.runs)
        for (const r of results) {
            assert.ok(tool.driver.rules.some((rule) => rule.id === r.ruleId), r.ruleId);
            for (const { physicalLocation } of r.locations) assert.ok(!/^([a-z]+:|\/)/.test(physicalLocation.artifactLocation.uri), 'a path within the repository');
        }
    return sarif;
}

/** JUnit XML: well-formed, and suites whose numbers are those of their cases. */
export async function readJunit(text) {
    const { parse } = await import(pathToFileURL(require.resolve('junit2json')));
    const { testsuite: suites } = await parse(text);
    for (const s of suites) {
        const cases = s.testcase ?? [];
        assert.deepEqual([s.tests, s.failures, s.skipped], [cases.length, cases.filter((c) => c.failure).length, cases.filter((c) => c.skipped).length]);
        for (const c of cases) assert.ok(c.name && c.classname);
    }
    return suites;
}

/** Markdown as GitHub has it: the cells of its table by row, as text, and the items of its list. */
export async function readMarkdown(text) {
    const { marked } = await import(pathToFileURL(join(modules, 'marked/lib/marked.esm.js')));
    const tokens = marked.lexer(text, { gfm: true });
    const plain = (token) => token.tokens ? token.tokens.map(plain).join('') : token.text.replace(/&lt;/g, '<').replace(/&amp;/g, '&');
    const table = tokens.find((t) => t.type === 'table');
    assert.ok(!/"(html|image)"/.test(JSON.stringify(tokens.map(function types(t) { return [t.type, ...(t.tokens ?? t.items ?? []).map(types)]; }))), 'no HTML of users');
    return {
        title: plain(tokens[0]), header: table.header.map(plain), rows: table.rows.map((row) => row.map(plain)),
        code: table.rows.map((row) => row.filter((c) => c.tokens.some((t) => t.type === 'codespan')).map(plain)),
        items: tokens.filter((t) => t.type === 'list').flatMap((l) => l.items.map(plain)),
    };
}

/** A workflow of GitHub Actions by GitHub's own parser: the steps of its only job. `folder` takes the parser as one file. */
export async function readWorkflow(file, folder) {
    const bundle = join(folder, 'workflow-parser.cjs');
    execFileSync(join(modules, '.bin/esbuild'), [join(modules, '@actions/workflow-parser/dist/index.js'), '--bundle', '--platform=node', '--format=cjs', '--log-level=error', `--outfile=${bundle}`]);
    const { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } = require(bundle);
    const { context, value } = parseWorkflow({ name: file, content: readFileSync(file, 'utf8') }, new NoOperationTraceWriter());
    const template = await convertWorkflowTemplate(context, value, undefined, { errorPolicy: 1 });
    assert.deepEqual(context.errors.getErrors().map((e) => e.message), []);
    assert.equal(template.jobs.length, 1);
    return JSON.parse(JSON.stringify(template.jobs[0].steps));
}

/** A pipeline of GitLab, held against GitLab's own schema by gitlab-ci-local: its jobs as that prints them. */
export function readPipeline(file, folder) {
    const out = execFileSync('node', [join(modules, 'gitlab-ci-local/src/index.js'), '--file', file, '--preview'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return require('yaml').parse(out);
}
