/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1, for machines without a GPU: the calls that the recorder makes, with
 * NVML's names, structures and error codes, over two invented devices.
 *
 *   -DOLD_DRIVER      leaves out what drivers before 510 don't have (the symbols are absent)
 *   NVML_DEVICES=n    number of devices (2)
 *   NVML_INIT=code    nvmlInit returns this error
 *   NVML_REFUSE=names calls that return NOT_SUPPORTED, comma separated (temperature,fan,ecc,power,…)
 *   NVML_FLAKY=name   this call returns UNKNOWN once, at its second use on each device
 *   NVML_LOST=d@n     device d is lost from the n-th utilization call on
 *   NVML_HANG=name    this call never comes back
 *   NVML_USER=pid     a compute process on device 0
 *   NVML_MIG=1        device 0 is in MIG mode: no utilization, and the process is in its second slice
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK, UNINITIALIZED, INVALID, NOT_SUPPORTED, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15, UNKNOWN = 999 };

typedef struct { int index, slice, rounds, lost; unsigned long long samples; } Device;
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu_instance, compute_instance; } Process;

static Device devices[2] = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
static Device slices[2] = {{0, 1, 0, 0, 0}, {0, 2, 0, 0, 0}};
static int started;

static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : otherwise;
}

static int listed(const char *variable, const char *name) {
    const char *text = getenv(variable);
    size_t length = strlen(name);
    while (text && *text) {
        const char *end = strchr(text, ',');
        size_t here = end ? (size_t)(end - text) : strlen(text);
        if (here == length && !strncmp(text, name, length)) return 1;
        text = end ? end + 1 : NULL;
    }
    return 0;
}

/* What every call on a device begins with. */
static int enter(Device *device, const char *name) {
    static int uses[2];
    if (!started) return UNINITIALIZED;
    if (listed("NVML_HANG", name)) for (;;) sleep(1000);
    if (device->lost) return LOST;
    if (listed("NVML_REFUSE", name)) return NOT_SUPPORTED;
    if (listed("NVML_FLAKY", name) && ++uses[device->index] == 2) return UNKNOWN;
    return OK;
}
#define ENTER(name) do { int code = enter(device, name); if (code) return code; } while (0)

int nvmlInitWithFlags(unsigned flags) { (void)flags; int code = number("NVML_INIT", OK); started += !code; return code; }
int nvmlShutdown(void) { if (!started) return UNINITIALIZED; started--; return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : "stand-in error"; }
int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "570.86.15"); return OK; }
int nvmlSystemGetCudaDriverVersion(int *version) { *version = 12080; return OK; }
#ifndef OLD_DRIVER
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12080; return OK; }
#endif

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = number("NVML_DEVICES", 2);
    return started ? OK : UNINITIALIZED;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **device) {
    if (index > 1) return INVALID;
    *device = &devices[index];
    return OK;
}
int nvmlDeviceGetName(Device *device, char *text, unsigned length) {
    ENTER("name");
    snprintf(text, length, "NVIDIA Stand-in %d", device->index);
    return OK;
}
int nvmlDeviceGetUUID(Device *device, char *text, unsigned length) {
    snprintf(text, length, "GPU-0000000%d-stand-in", device->index);
    return OK;
}
int nvmlDeviceGetPciInfo_v3(Device *device, char *info) { /* busId: 32 characters after 16 and five integers */
    memset(info, 0, 68);
    snprintf(info + 36, 32, "00000000:0%d:00.0", device->index + 1);
    return OK;
}
#ifndef OLD_DRIVER
int nvmlDeviceGetArchitecture(Device *device, unsigned *kind) { (void)device; *kind = 9; return OK; }
int nvmlDeviceGetNumGpuCores(Device *device, unsigned *cores) { (void)device; *cores = 16896; return OK; }
#endif

int nvmlDeviceGetUtilizationRates(Device *device, unsigned *rates) {
    const char *lost = getenv("NVML_LOST");
    int index, round;
    device->rounds++;
    if (lost && sscanf(lost, "%d@%d", &index, &round) == 2 && index == device->index && device->rounds >= round)
        device->lost = 1;
    ENTER("utilization");
    if (device->index == 0 && number("NVML_MIG", 0)) return NOT_SUPPORTED;
    rates[0] = 50 + device->index;
    rates[1] = 30 + device->index;
    return OK;
}
int nvmlDeviceGetMemoryInfo(Device *device, unsigned long long *memory) {
    ENTER("memory");
    memory[0] = 80ULL << 30; /* total, free, used: here with the reserve */
    memory[1] = 59ULL << 30;
    memory[2] = 21ULL << 30;
    return OK;
}
#ifndef OLD_DRIVER
int nvmlDeviceGetMemoryInfo_v2(Device *device, unsigned long long *memory) {
    ENTER("memory");
    if ((unsigned)memory[0] != 0x02000028) return 25;
    memory[1] = 80ULL << 30; /* total, reserved, free, used */
    memory[2] = 1ULL << 30;
    memory[3] = 59ULL << 30;
    memory[4] = 20ULL << 30;
    return OK;
}
#endif
int nvmlDeviceGetTemperature(Device *device, int sensor, unsigned *celsius) {
    ENTER("temperature");
    *celsius = 40 + device->index;
    return sensor == 0 ? OK : INVALID;
}
int nvmlDeviceGetPowerUsage(Device *device, unsigned *milliwatts) {
    ENTER("power");
    *milliwatts = 350000;
    return OK;
}
int nvmlDeviceGetEnforcedPowerLimit(Device *device, unsigned *milliwatts) {
    ENTER("limit");
    *milliwatts = 700000;
    return OK;
}
int nvmlDeviceGetTotalEnergyConsumption(Device *device, unsigned long long *millijoules) {
    ENTER("energy");
    *millijoules = 1234567;
    return OK;
}
int nvmlDeviceGetClockInfo(Device *device, int kind, unsigned *mhz) {
    static const unsigned clocks[] = {1980, 1965, 2619, 1500};
    ENTER("clock");
    *mhz = clocks[kind];
    return OK;
}
int nvmlDeviceGetMemoryErrorCounter(Device *device, int kind, int counter, int place, unsigned long long *count) {
    ENTER("ecc");
    if (counter != 0 || place != 2) return INVALID; /* volatile, device memory */
    *count = kind == 0 ? 3 : 1;
    return OK;
}
#ifdef OLD_DRIVER
int nvmlDeviceGetFanSpeed(Device *device, unsigned *percent) { ENTER("fan"); *percent = 44; return OK; }
#else
int nvmlDeviceGetFanSpeed_v2(Device *device, unsigned fan, unsigned *percent) {
    ENTER("fan");
    *percent = 45;
    return fan == 0 ? OK : INVALID;
}
#endif

int nvmlDeviceGetEncoderUtilization(Device *device, unsigned *percent, unsigned *period) {
    ENTER("encoder");
    *percent = 7;
    *period = 100000;
    return OK;
}
int nvmlDeviceGetCurrPcieLinkGeneration(Device *device, unsigned *value) { ENTER("link"); *value = 4; return OK; }
int nvmlDeviceGetCurrPcieLinkWidth(Device *device, unsigned *value) { ENTER("link"); *value = 8; return OK; }
int nvmlDeviceGetMaxPcieLinkGeneration(Device *device, unsigned *value) { ENTER("link"); *value = 5; return OK; }
int nvmlDeviceGetMaxPcieLinkWidth(Device *device, unsigned *value) { ENTER("link"); *value = 16; return OK; }
#ifndef OLD_DRIVER
int nvmlDeviceGetPcieSpeed(Device *device, unsigned *value) { ENTER("link"); *value = 32000; return OK; }
#endif
int nvmlDeviceGetPcieThroughput(Device *device, int kind, unsigned *kilobytes) {
    ENTER("pcie");
    *kilobytes = kind == 0 ? 100 : 200;
    return OK;
}

int nvmlDeviceGetMigMode(Device *device, unsigned *current, unsigned *pending) {
    *current = *pending = device->index == 0 && number("NVML_MIG", 0);
    return OK;
}
int nvmlDeviceGetMaxMigDeviceCount(Device *device, unsigned *count) { (void)device; *count = 7; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(Device *device, unsigned index, Device **slice) {
    (void)device;
    if (index != 1 && index != 4) return NOT_FOUND; /* numbers of slices have gaps */
    *slice = &slices[index == 4];
    return OK;
}
static int processes(Device *device, unsigned *count, Process *list) {
    int pid = number("NVML_USER", 0);
    int mine = pid && device->index == 0 && device->slice == (number("NVML_MIG", 0) ? 2 : 0);
    unsigned room = *count;
    *count = mine;
    if (!mine) return OK;
    if (room < 1 || !list) return TOO_SMALL;
    list[0] = (Process){(unsigned)pid, 1 << 30, 0, 0};
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v2(Device *device, unsigned *count, Process *list) {
    ENTER("processes");
    return processes(device, count, list);
}
#ifndef OLD_DRIVER
int nvmlDeviceGetComputeRunningProcesses_v3(Device *device, unsigned *count, Process *list) {
    ENTER("processes");
    return processes(device, count, list);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(Device *device, unsigned *count, Process *list) {
    (void)device;
    (void)list;
    *count = 0;
    return NOT_SUPPORTED;
}

typedef struct { unsigned id; int code; double value; const char *names[3]; } Metric;
typedef struct { unsigned version, count; unsigned long long *before, *now; Metric metrics[]; } Question;
static int held; /* samples that were allocated and not freed */

int nvmlGpmQueryDeviceSupport(Device *device, unsigned *support) {
    support[1] = device->index == 0;
    return support[0] == 1 ? OK : INVALID;
}
int nvmlGpmSampleAlloc(unsigned long long **sample) { *sample = calloc(1, 8); held++; return OK; }
int nvmlGpmSampleFree(unsigned long long *sample) { free(sample); held--; return OK; }
int nvmlGpmSampleGet(Device *device, unsigned long long *sample) {
    ENTER("gpm");
    *sample = ++device->samples;
    return OK;
}
int nvmlGpmMetricsGet(Question *question) {
    if (question->version != 1 || *question->now != *question->before + 1) return INVALID;
    for (unsigned place = 0; place < question->count; place++) {
        Metric *metric = &question->metrics[place];
        metric->code = metric->id == 11 ? NOT_SUPPORTED : OK; /* no FP64 on this one */
        metric->value = metric->id + 0.5;
    }
    return OK;
}
int stand_in_held(void) { return held; }
int stand_in_started(void) { return started; }
#endif
