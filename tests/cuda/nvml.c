/* tests/cuda/nvml.c -- a libnvidia-ml.so.1 for machines without a GPU: one GPU, which does as it is
 * told.  Its numbers are NVML's. */
enum { NOT_FOUND = 6, CLOCK_SM = 1 };

static struct {
	unsigned sm_mhz, celsius, milliwatts;
	unsigned long long reasons;
	int started;
} state = { .sm_mhz = 1980, .celsius = 41, .milliwatts = 350500 };

void nvml_stand_in(unsigned sm_mhz, unsigned long long reasons)
{
	state.sm_mhz = sm_mhz;
	state.reasons = reasons;
}

int nvml_stand_in_started(void)
{
	return state.started;
}

int nvmlInit_v2(void)
{
	state.started++;
	return 0;
}

int nvmlShutdown(void)
{
	state.started--;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned number, void **device)
{
	*device = &state;
	return number == 0 ? 0 : NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	*device = &state;
	return uuid[4] == 'a' ? 0 : NOT_FOUND;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
	*mhz = which == CLOCK_SM ? state.sm_mhz : 3201;
	return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	*celsius = state.celsius;
	return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	*milliwatts = state.milliwatts;
	return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	*reasons = state.reasons;
	return 0;
}
