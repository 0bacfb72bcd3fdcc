/* profiler/workload/hints.c -- see hints.h. */
#include "profiler/workload/hints.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

enum { MOST_DIMS = 8, SIZE_BYTES = 64, MOST_NESTED = 6 };

/* ---- sizes by name ---- */

struct dims {
	char at[MOST_DIMS][SIZE_BYTES]; /* "32", or an expression in the program's scope */
	int n;
};

/* Words that papers and programs use for a size; "seq_*" is all that begin so, "*dim" that end so.
 */
struct size_word {
	const char *words;
	int size;
	const char *parameters; /* of a constructor that says how large it is */
};
static const struct size_word size_words[] = {
	{ "b bs batch batch_size bsz n_batch nb bz", 2, "batch_size" },
	{ "c ch channels in_channels c_in cin in_ch n_channels", 3,
	  "in_channels channels in_ch in_chans num_channels n_channels c_in in_c" },
	{ "h w height width img_size image_size img_* hh ww", 32, "img_size image_size" },
	{ "t s l seq seq_len seq_* time len length lq lk t_* tokens block_size max_* context*", 16,
	  "" },
	{ "d _ dim embed_dim d_model e emb n_embd hidden hidden_size hidden_dim feat features f "
	  "in_features input_size input_dim inner* model_dim d_in channels_last",
	  64,
	  "dim d_model embed_dim n_embd hidden_size hidden_dim emb_dim input_dim in_features "
	  "input_size features in_dim d_in" },
	{ "heads head h_* nh n_head n_heads num_heads hn", 4, "heads n_heads num_heads n_head" },
	{ "dh hd head_dim d_head d_k d_v hs", 16, "head_dim d_head d_k" },
	{ "v vocab vocab_size classes num_classes n_classes k", 10, "vocab_size num_classes" },
	{ "p p1 p2 patch patch_size", 4, "patch_size patch" },
	{ "n nodes points m j i", 16, "" },
};

static bool is_in(const char *word, const char *words)
{
	size_t len = strlen(word);

	for (; *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");

		if ((n == len && strncmp(words, word, len) == 0) ||
		    (n > 1 && words[n - 1] == '*' && strncmp(words, word, n - 1) == 0) ||
		    (n > 1 && words[0] == '*' && len >= n - 1 &&
		     strncmp(words + 1, word + len - (n - 1), n - 1) == 0))
			return true;
		words += n;
	}
	return false;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The constructor's argument of one of the names, a whole number; NULL. */
static const char *given_size(const struct hints *h, const char *names)
{
	const struct lang_signature *init =
	    h->module ? lang_outline_function(h->outline, h->module->of, "__init__") : NULL;

	for (int i = 0; init && i + 1 < init->n; i++) {
		const struct lang_parameter *p = &init->parameters[i + 1];
		const char *text = p->otherwise;

		if (!is_in(p->name, names))
			continue;
		if (i < h->module->n && !h->module->arguments[i].name)
			text = h->module->arguments[i].text;
		for (int k = 0; k < h->module->n; k++)
			if (h->module->arguments[k].name &&
			    strcmp(h->module->arguments[k].name, p->name) == 0)
				text = h->module->arguments[k].text;
		if (text && is_number(text))
			return text;
	}
	return NULL;
}

static bool size_of(const struct hints *h, const char *name, int place, char out[SIZE_BYTES])
{
	char word[SIZE_BYTES];
	size_t len = strlen(name);

	if (len == 0 || len >= SIZE_BYTES)
		return false;
	for (size_t i = 0; i <= len; i++)
		word[i] = (char)tolower((unsigned char)name[i]);
	if (is_number(word)) {
		snprintf(out, SIZE_BYTES, "%s", word);
		return true;
	}
	if (strcmp(word, "n") == 0 && place == 0)
		snprintf(word, sizeof(word), "b");
	for (size_t i = 0; i < sizeof(size_words) / sizeof(size_words[0]); i++) {
		const struct size_word *w = &size_words[i];
		const char *given = given_size(h, word);

		if (!is_in(word, w->words))
			continue;
		given = given ? given : given_size(h, w->parameters);
		if (given && strlen(given) < SIZE_BYTES)
			snprintf(out, SIZE_BYTES, "%s", given);
		else
			snprintf(out, SIZE_BYTES, "%d", w->size);
		return true;
	}
	return false;
}

/* ---- "b c (h p1) (w p2)", "(B, T, C)" ---- */

/* A factor more of the dimension under way, or of a new one. */
static bool add_size(struct dims *d, const char *size, bool factor)
{
	if (factor && d->n && is_number(size) && is_number(d->at[d->n - 1])) {
		long long product = strtoll(d->at[d->n - 1], NULL, 10) * strtoll(size, NULL, 10);

		snprintf(d->at[d->n - 1], SIZE_BYTES, "%lld", product % 1000000);
		return true;
	}
	if (d->n == MOST_DIMS)
		return false;
	snprintf(d->at[d->n++], SIZE_BYTES, "%s", size);
	return true;
}

/* A size that the pattern's own arguments say: p1=4; NULL. */
static const char *size_argument(const struct lang_construction *pattern, const char *name)
{
	for (int i = 0; pattern && i < pattern->n; i++)
		if (pattern->arguments[i].name && strcmp(pattern->arguments[i].name, name) == 0 &&
		    pattern->arguments[i].text && is_number(pattern->arguments[i].text))
			return pattern->arguments[i].text;
	return NULL;
}

/* Reads words of sizes up to `end`; those in inner brackets are factors of one.  False where some
 * word says no size. */
static bool read_dims(const struct hints *h, const char *text, const char *end,
		      const struct lang_construction *pattern, struct dims *out)
{
	bool inside = false, factor = false;

	for (const char *at = text; at < end;) {
		size_t len = 0;
		char name[SIZE_BYTES], size[SIZE_BYTES];
		const char *given;

		while (at + len < end && (isalnum((unsigned char)at[len]) || at[len] == '_'))
			len++;
		if (len == 0) {
			inside = *at == '(' ? true : *at == ')' ? false : inside;
			factor = *at == '(' ? false : factor;
			if (!strchr("() ,*#.'\"x", *at) && (unsigned char)*at < 128)
				return false;
			at++;
			continue;
		}
		if (len >= SIZE_BYTES)
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		at += len;
		given = size_argument(pattern, name);
		if (given)
			snprintf(size, sizeof(size), "%s", given);
		else if (strcmp(name, "x") == 0)
			continue;
		else if (!size_of(h, name, out->n, size))
			return false;
		if (!add_size(out, size, inside && factor))
			return false;
		factor = inside;
	}
	return out->n > 0;
}

/* ---- a tensor as text ---- */

static bool all_numbers(const struct dims *d)
{
	for (int i = 0; i < d->n; i++)
		if (!is_number(d->at[i]))
			return false;
	return true;
}

/* `below`: for integers, what they are below; "" for floats, "2" and dtype bool for bools. */
static void write_tensor(char out[HINT_BYTES], const char *dtype, const struct dims *d,
			 const char *below)
{
	struct buf text;
	bool plain = all_numbers(d) && (below[0] == '\0' || is_number(below));

	buf_init(&text, HINT_BYTES - 1);
	if (plain)
		buf_printf(&text, "%s[", dtype);
	else
		buf_printf(&text, below[0] ? "torch.randint(0, %s, (" : "torch.randn(", below);
	for (int i = 0; i < d->n; i++)
		buf_printf(&text, "%s%s", i ? (plain ? "," : ", ") : "", d->at[i]);
	if (plain)
		buf_printf(&text, below[0] ? "]<%s" : "]", below);
	else
		buf_puts(&text, below[0] ? (d->n == 1 ? ",))" : "))") : ")");
	snprintf(out, HINT_BYTES, "%s", text.data ? text.data : "");
	buf_finish(&text);
}

static struct dims dims_of(const char *words)
{
	struct dims d = { .n = 0 };

	for (const char *at = words; *at && d.n < MOST_DIMS; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		snprintf(d.at[d.n++], SIZE_BYTES, "%.*s", (int)len, at);
		at += len;
	}
	return d;
}

/* ---- the layer that takes it ---- */

/* A class of torch.nn, what of its arguments is a size, and what it takes: "?" is that size. */
struct layer_row {
	const char *name, *parameter;
	int place;
	const char *takes;
};
static const struct layer_row layers[] = {
	{ "Conv1d", "in_channels", 0, "2 ? 64" },
	{ "Conv2d", "in_channels", 0, "2 ? 32 32" },
	{ "Conv3d", "in_channels", 0, "2 ? 8 16 16" },
	{ "ConvTranspose1d", "in_channels", 0, "2 ? 16" },
	{ "ConvTranspose2d", "in_channels", 0, "2 ? 8 8" },
	{ "ConvTranspose3d", "in_channels", 0, "2 ? 4 8 8" },
	{ "Linear", "in_features", 0, "8 ?" },
	{ "LayerNorm", "normalized_shape", 0, "2 16 ?" },
	{ "RMSNorm", "normalized_shape", 0, "2 16 ?" },
	{ "BatchNorm1d", "num_features", 0, "8 ?" },
	{ "BatchNorm2d", "num_features", 0, "2 ? 16 16" },
	{ "BatchNorm3d", "num_features", 0, "2 ? 4 8 8" },
	{ "InstanceNorm2d", "num_features", 0, "2 ? 16 16" },
	{ "GroupNorm", "num_channels", 1, "2 ? 16 16" },
	{ "LSTM", "input_size", 0, "2 16 ?" },
	{ "GRU", "input_size", 0, "2 16 ?" },
	{ "RNN", "input_size", 0, "2 16 ?" },
	{ "LSTMCell", "input_size", 0, "2 ?" },
	{ "GRUCell", "input_size", 0, "2 ?" },
	{ "MultiheadAttention", "embed_dim", 0, "2 16 ?" },
	{ "TransformerEncoderLayer", "d_model", 0, "2 16 ?" },
	{ "TransformerDecoderLayer", "d_model", 0, "2 16 ?" },
	{ "Transformer", "d_model", 0, "2 16 ?" },
	{ "MaxPool2d", "", -1, "2 3 32 32" },
	{ "AvgPool2d", "", -1, "2 3 32 32" },
	{ "AdaptiveAvgPool2d", "", -1, "2 3 32 32" },
	{ "Upsample", "", -1, "2 3 16 16" },
};

static const char *argument_text(const struct lang_construction *made, const char *name, int place)
{
	for (int i = 0; i < made->n; i++)
		if (made->arguments[i].name ? strcmp(made->arguments[i].name, name) == 0
					    : i == place)
			return made->arguments[i].text;
	return NULL;
}

static const char *last_word(const char *of)
{
	const char *dot = strrchr(of, '.');

	return dot ? dot + 1 : of;
}

/* Whether the size is a number or an expression short enough to be shown. */
static bool is_size(const char *text)
{
	return text && strlen(text) < SIZE_BYTES && text[0] != '(' && text[0] != '[' &&
	       !strchr(text, '\'') && !strchr(text, '"');
}

/* Of the names of the sizes all but the last one, which the layer says. */
static void take_rank(const struct hints *h, const char *sizes, struct dims *d)
{
	struct dims named = { .n = 0 };
	char last[SIZE_BYTES];

	if (!sizes || !read_dims(h, sizes, sizes + strlen(sizes), NULL, &named) || named.n < 2)
		return;
	snprintf(last, sizeof(last), "%s", d->at[d->n - 1]);
	*d = named;
	snprintf(d->at[d->n - 1], SIZE_BYTES, "%s", last);
}

static bool embed(const struct hints *h, const struct lang_construction *made, const char *sizes,
		  struct hint *out)
{
	const char *vocabulary = argument_text(made, "num_embeddings", 0);
	struct dims d = dims_of("2 16"), named = { .n = 0 };

	if (sizes && read_dims(h, sizes, sizes + strlen(sizes), NULL, &named))
		d = named;
	if (!is_size(vocabulary))
		return false;
	write_tensor(out->text, "int64", &d, vocabulary);
	return true;
}

static bool of_pattern(const struct hints *h, const struct lang_construction *made,
		       struct hint *out)
{
	const char *text = made->n ? made->arguments[0].text : NULL;
	const char *end = text ? strstr(text, "->") : NULL;
	struct dims d = { .n = 0 };

	if (!end || !read_dims(h, text + 1, end, made, &d))
		return false;
	write_tensor(out->text, "float32", &d, "");
	return true;
}

static bool of_layer(const struct hints *h, const struct lang_construction *made, const char *sizes,
		     struct hint *out)
{
	const char *name = last_word(made->of);

	if (strcmp(name, "Embedding") == 0 || strcmp(name, "EmbeddingBag") == 0)
		return embed(h, made, sizes, out);
	if (strcmp(name, "Rearrange") == 0 || strcmp(name, "Reduce") == 0)
		return of_pattern(h, made, out);
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		const struct layer_row *row = &layers[i];
		const char *size = row->place < 0 ? NULL
						  : argument_text(made, row->parameter, row->place);
		struct dims d = dims_of(row->takes);

		if (strcmp(name, row->name) != 0)
			continue;
		if (row->place >= 0 && !is_size(size))
			return false;
		for (int k = 0; size && k < d.n; k++)
			if (strcmp(d.at[k], "?") == 0)
				snprintf(d.at[k], SIZE_BYTES, "%s", size);
		if (row->takes[strlen(row->takes) - 1] == '?')
			take_rank(h, sizes, &d);
		write_tensor(out->text, "float32", &d, "");
		return true;
	}
	return false;
}

/* From the module's method down to a layer of torch.nn. */
static bool find_layer(const struct hints *h, const char *parameter, const char *sizes, int depth,
		       struct hint *out)
{
	struct lang_construction made;
	const struct lang_construction *at = &made;
	const struct lang_signature *inner;

	if (depth == MOST_NESTED || !h->function->owner ||
	    !lang_outline_layer(h->outline, h->function, parameter, h->module, &made))
		return false;
	for (int i = 0; at->first && i < MOST_NESTED; i++)
		at = at->first;
	inner = lang_outline_function(h->outline, at->of, "forward");
	if (inner && inner->n > 1) {
		struct hints below = { h->outline, inner, at, h->depth, false };
		const char *named = lang_outline_sizes(h->outline, inner,
						       inner->parameters[1].name);

		return find_layer(&below, inner->parameters[1].name, sizes ? sizes : named,
				  depth + 1, out);
	}
	if (!of_layer(h, at, sizes, out))
		return false;
	snprintf(out->because, HINT_BYTES, "line %d has the layer that takes it: %.200s", at->line,
		 at->text ? at->text : at->of);
	return true;
}

/* ---- dtypes ---- */

static bool says_integers(const char *text)
{
	static const char *const words[] = { "Int",  "Long",   "int64", "int32", "int8",
					     "long", "indice", "index", "token" };

	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static bool is_index_name(const char *name)
{
	return is_in(name, "idx ids input_ids tokens token_ids indices index labels targets "
			   "token_type_ids position_ids src_ids tgt_ids");
}

static void write_by_name(const struct lang_parameter *p, const char *said, const struct dims *d,
			  struct hint *out)
{
	bool boolean = said && (strstr(said, "Bool") || strstr(said, "bool"));

	if (boolean)
		write_tensor(out->text, "bool", d, "");
	else if (says_integers(said) || is_index_name(p->name))
		write_tensor(out->text, "int64", d, "10");
	else
		write_tensor(out->text, "float32", d, "");
}

/* ---- annotations ---- */

/* The quoted part of Float[Tensor, "b c h w"], or what follows of TensorType["b", 3]. */
static bool of_shape_annotation(const struct hints *h, const struct lang_parameter *p,
				struct hint *out)
{
	const char *open = strchr(p->annotation, '['), *end = strrchr(p->annotation, ']');
	const char *quote = open ? strpbrk(open, "\"'") : NULL;
	struct dims d = { .n = 0 };

	if (!open || !end || !quote || end < quote || !strstr(p->annotation, "Tensor") ||
	    strstr(p->annotation, "ist[") || strstr(p->annotation, "uple["))
		return false;
	if (strncmp(p->annotation, "TensorType", 10) == 0)
		quote = open + 1;
	while (quote != open + 1 && end > quote && end[-1] != '"' && end[-1] != '\'')
		end--;
	if (!read_dims(h, quote, end, NULL, &d))
		return false;
	write_by_name(p, p->annotation, &d, out);
	out->sized = true;
	return true;
}

/* What an int, float or bool without a default may be. */
static bool number_for(const struct lang_parameter *p, const char *type, char *out, size_t bytes)
{
	static const struct size_word words[] = {
		{ "*vocab vocab* num_embeddings n_tokens ntoken*", 1000, "" },
		{ "in_channels in_ch in_c in_chans c_in cin channels_in inp_channels c", 3, "" },
		{ "out_channels out_ch out_c c_out cout channels planes in_planes width filters "
		  "channel n_filters num_filters growth_rate mid_channels",
		  16, "" },
		{ "n_head n_heads num_heads heads nhead h head num_attention_heads", 4, "" },
		{ "num_classes n_classes classes n_class num_class out_dim output_dim output_size "
		  "d_out action_dim n_actions",
		  10, "" },
		{ "n_layers num_layers layers depth n_layer blocks num_blocks n_blocks N nlayers "
		  "num_experts n_experts top_k",
		  2, "" },
		{ "kernel_size kernel k ks", 3, "" },
		{ "stride groups dilation expansion", 1, "" },
		{ "padding pad", 1, "" },
		{ "patch_size patch p", 4, "" },
		{ "img_size image_size input_resolution resolution size", 32, "" },
		{ "max_len max_seq_len seq_len block_size context_length max_position* n_ctx "
		  "max_length seq_length sequence_length num_patches",
		  64, "" },
		{ "ratio reduction mlp_ratio r rank", 4, "" },
		{ "head_dim d_head d_k d_v dim_head", 16, "" },
		{ "*dim dim* d_model d_* embed* n_embd hidden* *features *size *width *hidden "
		  "emsize nhid d_hid d ninp in_features out_features input_size hidden_size "
		  "input_dim hidden_dim embed_dim emb_dim latent_dim z_dim n_in n_out in_dim "
		  "state_dim ff_dim d_ff dim_in dim_out inner_dim intermediate_size embedding_dim "
		  "query_dim context_dim dim_feedforward",
		  64, "" },
	};
	bool whole = !type || strstr(type, "int");

	if (is_in(p->name, "dropout drop p_drop attn_drop drop_rate dropout_p drop_prob eps") ||
	    (type && strcmp(type, "float") == 0)) {
		snprintf(out, bytes, is_in(p->name, "eps epsilon") ? "1e-5" : "0.1");
		return true;
	}
	if ((type && strcmp(type, "bool") == 0) ||
	    is_in(p->name, "bias causal is_causal training")) {
		snprintf(out, bytes, "True");
		return true;
	}
	for (size_t i = 0; whole && i < sizeof(words) / sizeof(words[0]); i++)
		if (is_in(p->name, words[i].words)) {
			snprintf(out, bytes, "%d", words[i].size);
			return true;
		}
	if (type && strcmp(type, "int") == 0) {
		snprintf(out, bytes, "4");
		return true;
	}
	return false;
}

static bool construct(const struct hints *h, const char *class, struct hint_made *out);

static bool of_class(const struct hints *h, const char *type, struct hint *out)
{
	struct hint_made made;

	if (h->depth == MOST_NESTED || !construct(h, type, &made))
		return false;
	snprintf(out->text, HINT_BYTES, "%s", made.text);
	snprintf(out->because, HINT_BYTES, "it is annotated %.100s", type);
	return true;
}

static bool is_tensor_type(const char *type)
{
	return strstr(type, "Tensor") && !strstr(type, "ist[") && !strstr(type, "uple[") &&
	       !strstr(type, "ict[");
}

static bool of_annotation(const struct hints *h, const struct lang_parameter *p, struct hint *out)
{
	const struct dims usual = dims_of("8 16");
	const char *type = p->annotation;
	size_t len = strlen(type);
	char bare[100];

	if (len > 2 && len < sizeof(bare) && (type[0] == '"' || type[0] == '\''))
		snprintf(bare, sizeof(bare), "%.*s", (int)len - 2, type + 1);
	else
		snprintf(bare, sizeof(bare), "%.99s", type);
	snprintf(out->because, HINT_BYTES, "it is annotated %.100s", type);
	if (strcmp(bare, "int") == 0 || strcmp(bare, "float") == 0 || strcmp(bare, "bool") == 0)
		return number_for(p, bare, out->text, HINT_BYTES);
	if (lang_outline_function(h->outline, NULL, bare))
		return of_class(h, bare, out);
	if (!is_tensor_type(bare) && strstr(bare, "Tensor")) {
		snprintf(out->text, HINT_BYTES, strstr(bare, "uple[") ? "(%s, %s)" : "[%s, %s]",
			 "torch.randn(8, 16)", "torch.randn(8, 16)");
		return strstr(bare, "ict[") == NULL;
	}
	if (!is_tensor_type(bare))
		return false;
	write_by_name(p, bare, &usual, out);
	snprintf(out->because, HINT_BYTES, "it is annotated %.100s; its sizes are a guess", type);
	return true;
}

/* What a parameter of a constructor may be. */
static bool argument_for(const struct hints *h, const struct lang_parameter *p,
			 char out[HINT_ARGUMENT_BYTES])
{
	struct hint value;

	if (number_for(p, p->annotation, out, HINT_ARGUMENT_BYTES))
		return true;
	if (!p->annotation || !of_annotation(h, p, &value) || strchr(value.text, '<') ||
	    strncmp(value.text, "float32[", 8) == 0 || strlen(value.text) >= HINT_ARGUMENT_BYTES)
		return false;
	snprintf(out, HINT_ARGUMENT_BYTES, "%s", value.text);
	return true;
}

/* "Net(dim=64)"; false: it is too long. */
static bool write_call(const char *class, const struct lang_argument *at, int n,
		       char out[HINT_BYTES])
{
	struct buf text;
	bool ok;

	buf_init(&text, HINT_BYTES - 1);
	buf_printf(&text, "%s(", class);
	for (int i = 0; i < n; i++)
		buf_printf(&text, "%s%s=%s", i ? ", " : "", at[i].name, at[i].text);
	buf_putc(&text, ')');
	ok = text.data && !text.failed;
	snprintf(out, HINT_BYTES, "%s", ok ? text.data : "");
	buf_finish(&text);
	return ok;
}

static bool construct(const struct hints *h, const char *class, struct hint_made *out)
{
	const struct lang_signature *init = lang_outline_function(h->outline, class, "__init__");
	const struct lang_signature *fields = lang_outline_function(h->outline, NULL, class);
	const struct lang_signature *of = init ? init : fields;
	const struct hints below = { h->outline, of, NULL, h->depth + 1, false };
	int n = 0;

	if (!of || (!init && !fields->is_class))
		return false;
	for (int i = init != NULL; i < of->n; i++) {
		const struct lang_parameter *p = &of->parameters[i];

		if (p->otherwise || p->kind >= PARAMETER_ARGS)
			continue;
		if (n == HINT_ARGUMENTS || !argument_for(&below, p, out->texts[n]))
			return false;
		out->at[n] = (struct lang_argument){ p->name, out->texts[n], NULL };
		n++;
	}
	if (!write_call(class, out->at, n, out->text))
		return false;
	out->made = (struct lang_construction){
		class, out->text, out->at, n, fields ? fields->line : 0, NULL
	};
	return true;
}

/* ---- docstrings ---- */

/* The first group of sizes in brackets from `at` on, before `end`. */
static bool doc_shape(const struct hints *h, const char *at, const char *end, struct dims *d)
{
	for (; at < end; at++) {
		const char *close;

		if (*at != '(' && *at != '[')
			continue;
		close = memchr(at, *at == '(' ? ')' : ']', (size_t)(end - at));
		d->n = 0;
		if (close && memchr(at, ',', (size_t)(close - at)) &&
		    read_dims(h, at + 1, close, NULL, d))
			return true;
	}
	return false;
}

/* Where the docstring speaks of the parameter: after its name at the start of a line. */
static const char *doc_line(const char *doc, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = doc; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *word = at + strspn(at, " \t-*`@");

		if (strncmp(word, ":param ", 7) == 0 || strncmp(word, "param ", 6) == 0)
			word = strchr(word, ' ') + 1;
		if (strncmp(word, name, len) == 0 && !isalnum((unsigned char)word[len]) &&
		    word[len] != '_')
			return word + len;
	}
	return NULL;
}

static bool of_doc(const struct hints *h, const struct lang_parameter *p, const char *doc,
		   bool first, struct hint *out)
{
	const char *at = doc ? doc_line(doc, p->name) : NULL, *end;
	struct dims d = { .n = 0 };

	if (doc && !at && first)
		at = doc_line(doc, "Input") ? doc_line(doc, "Input") : doc_line(doc, "Inputs");
	if (!at)
		return false;
	end = at + strcspn(at, "\n");
	if (!doc_shape(h, at, end, &d)) { /* numpy's style has it in the next line */
		end += *end == '\n';
		end += strcspn(end, "\n");
		if (!doc_shape(h, at, end, &d))
			return false;
	}
	if (memmem(at, (size_t)(end - at), "ndice", 5) ||
	    memmem(at, (size_t)(end - at), "oken", 4) ||
	    memmem(at, (size_t)(end - at), "long", 4) || memmem(at, (size_t)(end - at), "Long", 4))
		write_tensor(out->text, "int64", &d, "10");
	else
		write_by_name(p, p->annotation, &d, out);
	snprintf(out->because, HINT_BYTES, "the docstring says its sizes");
	return true;
}

/* ---- the public functions ---- */

static bool is_first(const struct hints *h, const struct lang_parameter *p)
{
	return p == h->function->parameters + (h->function->owner != NULL);
}

static bool of_sizes(const struct hints *h, const struct lang_parameter *p, const char *sizes,
		     struct hint *out)
{
	const char *end = sizes ? strstr(sizes, "->") : NULL;
	struct dims d = { .n = 0 };

	if (!sizes || !read_dims(h, sizes, end ? end : sizes + strlen(sizes), NULL, &d))
		return false;
	write_by_name(p, p->annotation, &d, out);
	snprintf(out->because, HINT_BYTES, "the function names its sizes: %.100s", sizes);
	return true;
}

bool hint_find(const struct hints *h, const struct lang_parameter *p, struct hint *out)
{
	const char *sizes = lang_outline_sizes(h->outline, h->function, p->name);
	const struct lang_signature *class =
	    h->function->owner ? lang_outline_function(h->outline, NULL, h->function->owner) : NULL;

	out->sized = true;
	if (p->annotation && of_shape_annotation(h, p, out)) {
		snprintf(out->because, HINT_BYTES, "it is annotated %.100s", p->annotation);
		return true;
	}
	if (of_doc(h, p, h->function->doc, is_first(h, p), out) ||
	    of_doc(h, p, class ? class->doc : NULL, is_first(h, p), out) ||
	    find_layer(h, p->name, sizes, 0, out) || of_sizes(h, p, sizes, out))
		return true;
	out->sized = false;
	if (p->annotation)
		return of_annotation(h, p, out);
	snprintf(out->because, HINT_BYTES, "its name tells");
	if (!is_in(p->name, "c h p k r d n size width channel channels") &&
	    number_for(p, NULL, out->text, HINT_BYTES))
		return true;
	snprintf(out->text, HINT_BYTES, "%s",
		 is_index_name(p->name) ? "int64[8]<10" : "float32[8,16]");
	snprintf(out->because, HINT_BYTES, "nothing tells");
	return h->guess && !p->otherwise;
}

bool hint_construct(struct lang_outline *o, const char *class, struct hint_made *out)
{
	const struct hints h = { .outline = o };

	return construct(&h, class, out);
}
