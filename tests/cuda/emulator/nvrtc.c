/* tests/cuda/emulator/nvrtc.c -- a libnvrtc.so.13 that makes code for the host (emulate.py), so
 * that kernels have values where there is no GPU: driver.c runs them.
 */
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct program {
	char *source, *object;
	size_t bytes;
};

nvrtcResult nvrtcVersion(int *major, int *minor)
{
	*major = 13;
	*minor = 98; /* its code is no cubin: it must not be found in the cache by the real one */
	return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
	return result ? "the host's compiler refuses it" : "no error";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
			       int n_headers, const char *const *headers, const char *const *names)
{
	struct program *p = calloc(1, sizeof(*p));

	(void)name, (void)n_headers, (void)headers, (void)names;
	if (!p)
		return NVRTC_ERROR_OUT_OF_MEMORY;
	p->source = strdup(source);
	*program = (nvrtcProgram)p;
	return p->source ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	struct program *p = (struct program *)*program;

	free(p->source);
	free(p->object);
	free(p);
	*program = NULL;
	return NVRTC_SUCCESS;
}

static char *read_file(const char *path, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*bytes = (size_t)ftell(f);
	rewind(f);
	data = malloc(*bytes + 1);
	if (data && fread(data, 1, *bytes, f) != *bytes) {
		free(data);
		data = NULL;
	}
	fclose(f);
	return data;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n_options, const char *const *options)
{
	struct program *p = (struct program *)program;
	const char *script = getenv("STAND_IN_EMULATOR"); /* path of emulate.py */
	char folder[] = "/tmp/emulated-XXXXXX", command[1024];
	char source[64], object[64];
	Dl_info self; /* what is precompiled lies beside this library */
	FILE *f;
	int status, beside;

	(void)n_options, (void)options;
	if (!script || !dladdr((void *)nvrtcCompileProgram, &self) || !mkdtemp(folder))
		return NVRTC_ERROR_INTERNAL_ERROR;
	snprintf(source, sizeof(source), "%s/module.cu", folder);
	snprintf(object, sizeof(object), "%s/module.so", folder);
	f = fopen(source, "w");
	if (f) {
		fputs(p->source, f);
		fclose(f);
	}
	beside = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
	snprintf(command, sizeof(command), "python3 '%s' '%s' '%s' '%.*s' >&2", script, source,
		 object, beside, self.dli_fname);
	status = system(command);
	p->object = status ? NULL : read_file(object, &p->bytes);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command) != 0 || !p->object)
		return NVRTC_ERROR_COMPILATION;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
	(void)program;
	*bytes = 1;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
	(void)program;
	*log = 0;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
	*bytes = ((struct program *)program)->bytes;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
	const struct program *p = (const struct program *)program;

	memcpy(cubin, p->object, p->bytes);
	return NVRTC_SUCCESS;
}
