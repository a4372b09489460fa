"""The records of a W&B transaction log: one table of messages and field numbers.

Both sides work from this table. The writer encodes the protobuf wire format straight from it
(`recorder.transaction_log.wire`), so a training script needs no protobuf package; the reader makes its
message classes from it at run time (`leet.reading.records`), so that any protobuf ≥ 4.25 will do.
A test compares every name, number and type with the descriptors of the installed `wandb` package.

The notation is one field per clause, `number name kind`, with these marks after the kind:

    *            repeated
    ?            optional with presence (proto3 `optional`)
    @group       member of the oneof `group`
    map<K,V>     a map, which is a repeated entry message {1 key, 2 value}

A kind is a scalar of protobuf or the name of another message or enum of the table.
Left out on purpose: `Record.request`, which never is in a file, and `_info`, which nearly every message has and no
reader looks at; both are unknown fields to a reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

SCALARS = frozenset(
    {"string", "bool", "int32", "int64", "uint32", "uint64", "sint64", "double", "bytes"},
)

ENUMS: dict[str, dict[str, int]] = {
    "NullValue": {"NULL_VALUE": 0},
    "StatsType": {"SYSTEM": 0},
    "OutputType": {"STDERR": 0, "STDOUT": 1},
    "MetricGoal": {"GOAL_UNSET": 0, "GOAL_MINIMIZE": 1, "GOAL_MAXIMIZE": 2},
    "PolicyType": {"NOW": 0, "END": 1, "LIVE": 2},
    "FileType": {"OTHER": 0, "WANDB": 1, "MEDIA": 2, "ARTIFACT": 3},
}

_TABLE = """
Record: 1 num int64; 2 history HistoryRecord @record_type; 3 summary SummaryRecord @record_type;
  4 output OutputRecord @record_type; 5 config ConfigRecord @record_type; 6 files FilesRecord @record_type;
  7 stats StatsRecord @record_type; 8 artifact ArtifactRecord @record_type; 9 tbrecord TBRecord @record_type;
  10 alert AlertRecord @record_type; 11 telemetry TelemetryRecord @record_type; 12 metric MetricRecord @record_type;
  13 output_raw OutputRawRecord @record_type; 16 control Control; 17 run RunRecord @record_type;
  18 exit RunExitRecord @record_type; 19 uuid string; 20 final FinalRecord @record_type;
  21 header HeaderRecord @record_type; 22 footer FooterRecord @record_type;
  23 preempting RunPreemptingRecord @record_type; 24 noop_link_artifact Empty @record_type;
  25 use_artifact UseArtifactRecord @record_type; 26 environment EnvironmentRecord @record_type;
  27 output_logger OutputLoggerRecord @record_type
Control: 1 req_resp bool; 2 local bool; 3 relay_id string; 4 mailbox_slot string; 6 flow_control bool;
  7 end_offset int64; 8 connection_id string
Empty:
Timestamp: 1 seconds int64; 2 nanos int32

HeaderRecord: 1 version_info VersionInfo
VersionInfo: 1 producer string; 2 min_consumer string
FinalRecord:
FooterRecord:
RunPreemptingRecord:
RunRecord: 1 run_id string; 2 entity string; 3 project string; 4 config ConfigRecord; 5 summary SummaryRecord;
  6 run_group string; 7 job_type string; 8 display_name string; 9 notes string; 10 tags string*;
  11 settings SettingsRecord; 12 sweep_id string; 13 host string; 14 starting_step int64; 16 storage_id string;
  17 start_time Timestamp; 18 resumed bool; 19 telemetry TelemetryRecord; 20 runtime int32; 21 git GitRepoRecord;
  22 forked bool; 23 branch_point BranchPoint; 24 resume bool
GitRepoRecord: 1 remote_url string; 2 commit string
BranchPoint: 1 run string; 2 value double; 3 metric string
SettingsRecord: 1 item SettingsItem*
SettingsItem: 1 key string; 16 value_json string
RunExitRecord: 1 exit_code int32; 2 runtime int32; 3 not_complete bool

HistoryRecord: 1 item HistoryItem*; 2 step HistoryStep
HistoryStep: 1 num int64
HistoryItem: 1 key string; 2 nested_key string*; 16 value_json string; 3 none NullValue @value; 4 boolean bool @value;
  5 integer sint64 @value; 6 number double @value; 7 text string @value; 8 json string @value
SummaryRecord: 1 update SummaryItem*; 2 remove SummaryItem*
SummaryItem: 1 key string; 2 nested_key string*; 16 value_json string
ConfigRecord: 1 update ConfigItem*; 2 remove ConfigItem*
ConfigItem: 1 key string; 2 nested_key string*; 16 value_json string
StatsRecord: 1 stats_type StatsType; 2 timestamp Timestamp; 3 item StatsItem*
StatsItem: 1 key string; 16 value_json string
OutputRawRecord: 1 output_type OutputType; 2 timestamp Timestamp; 3 line string
OutputRecord: 1 output_type OutputType; 2 timestamp Timestamp; 3 line string
OutputLoggerRecord: 1 line string
MetricRecord: 1 name string; 2 glob_name string; 4 step_metric string; 5 step_metric_index int32;
  6 options MetricOptions; 7 summary MetricSummary; 8 goal MetricGoal; 9 _control MetricControl;
  10 expanded_from_glob bool
MetricOptions: 1 step_sync bool; 2 hidden bool; 3 defined bool
MetricControl: 1 overwrite bool
MetricSummary: 1 min bool; 2 max bool; 3 mean bool; 4 best bool; 5 last bool; 6 none bool; 7 copy bool; 8 first bool
AlertRecord: 1 title string; 2 text string; 3 level string; 4 wait_duration int64
FilesRecord: 1 files FilesItem*
FilesItem: 1 path string; 2 policy PolicyType; 3 type FileType
TBRecord: 1 log_dir string; 2 save bool; 3 root_dir string; 4 namespace string ?; 5 save_path string;
  6 ignore_timestamp bool; 7 ignore_hostname bool

EnvironmentRecord: 1 os string; 2 python string; 3 started_at Timestamp; 4 docker string; 5 args string*;
  6 program string; 7 code_path string; 8 code_path_local string; 9 git GitRepoRecord; 10 email string; 11 root string;
  12 host string; 13 username string; 14 executable string; 15 colab string; 16 cpu_count uint32;
  17 cpu_count_logical uint32; 18 gpu_type string; 19 gpu_count uint32; 20 disk map<string,DiskInfo>;
  21 memory MemoryInfo; 22 cpu CpuInfo; 23 apple AppleInfo; 24 gpu_nvidia GpuNvidiaInfo*; 25 cuda_version string;
  26 gpu_amd GpuAmdInfo*; 27 slurm map<string,string>; 28 trainium TrainiumInfo; 29 tpu TPUInfo;
  30 coreweave CoreWeaveInfo; 199 writer_id string
DiskInfo: 1 total uint64; 2 used uint64
MemoryInfo: 1 total uint64
CpuInfo: 1 count uint32; 2 count_logical uint32; 3 model string
GpuNvidiaInfo: 1 name string; 2 memory_total uint64; 3 cuda_cores uint32; 4 architecture string; 5 uuid string;
  6 pci_bus_id string; 7 numa_node uint32 ?
TPUInfo: 1 name string; 2 hbm_gib uint32; 3 devices_per_chip uint32; 4 count uint32
AppleInfo: 1 name string; 2 ecpu_cores uint32; 3 pcpu_cores uint32; 4 gpu_cores uint32; 5 memory_gb uint32;
  6 swap_total_bytes uint64; 7 ram_total_bytes uint64; 8 mac_model string
GpuAmdInfo: 1 id string; 2 unique_id string; 3 vbios_version string; 4 performance_level string;
  5 gpu_overdrive string; 6 gpu_memory_overdrive string; 7 max_power string; 8 series string; 9 model string;
  10 vendor string; 11 sku string; 12 sclk_range string; 13 mclk_range string
TrainiumInfo: 1 name string; 2 vendor string; 3 neuron_device_count uint32;
  4 neuroncore_per_device_count uint32
CoreWeaveInfo: 1 cluster_name string; 2 org_id string; 3 region string

TelemetryRecord: 1 imports_init TelemetryImports; 2 imports_finish TelemetryImports;
  3 feature TelemetryFeature; 4 python_version string; 5 cli_version string; 6 huggingface_version string;
  8 env TelemetryEnv; 9 label TelemetryLabels; 10 deprecated TelemetryDeprecated; 12 core_version string;
  13 platform string
TelemetryFeature: 1 watch bool; 2 finish bool; 3 save bool; 4 offline bool; 5 resumed bool; 6 grpc bool;
  7 metric bool; 8 keras bool; 9 sagemaker bool; 10 artifact_incremental bool; 11 metaflow bool;
  12 prodigy bool; 13 set_init_name bool; 14 set_init_id bool; 15 set_init_tags bool; 16 set_init_config bool;
  17 set_run_name bool; 18 set_run_tags bool; 19 set_config_item bool; 20 launch bool;
  21 torch_profiler_trace bool; 22 sb3 bool; 24 init_return_run bool; 25 lightgbm_wandb_callback bool;
  26 lightgbm_log_summary bool; 27 catboost_wandb_callback bool; 28 catboost_log_summary bool;
  29 tensorboard_log bool; 30 estimator_hook bool; 31 xgboost_wandb_callback bool;
  32 xgboost_old_wandb_callback bool; 33 attach bool; 34 tensorboard_patch bool; 35 tensorboard_sync bool;
  36 kfp_wandb_log bool; 37 maybe_run_overwrite bool; 38 keras_metrics_logger bool;
  39 keras_model_checkpoint bool; 40 keras_wandb_eval_callback bool; 41 flow_control_overflow bool;
  42 sync bool; 43 flow_control_disabled bool; 44 flow_control_custom bool; 46 open_metrics bool;
  47 ultralytics_yolov8 bool; 49 sync_tfevents bool; 50 async_uploads bool; 51 openai_autolog bool;
  52 langchain_tracer bool; 53 cohere_autolog bool; 54 hf_pipeline_autolog bool; 56 lib_c bool;
  57 lib_cpp bool; 58 openai_finetuning bool; 59 diffusers_autolog bool; 60 lightning_fabric_logger bool;
  61 set_step_log bool; 62 set_summary bool; 63 metric_summary bool; 64 metric_goal bool;
  65 metric_hidden bool; 66 metric_step_sync bool; 67 shared_mode bool; 68 server_side_derived_summary bool;
  69 user_provided_label bool; 70 dcgm_profiling_enabled bool; 71 fork_mode bool; 72 rewind_mode bool;
  73 dspy_callback bool; 74 finish_timeout bool; 75 finish_timeout_raises bool; 76 sync2 bool;
  77 eval_table bool; 78 table bool; 79 incremental_table bool
TelemetryEnv: 1 jupyter bool; 2 kaggle bool; 3 windows bool; 4 m1_gpu bool; 10 trainium bool; 11 pex bool;
  12 colab bool; 13 ipython bool; 14 aws_lambda bool; 15 amd_gpu bool
TelemetryLabels: 1 code_string string; 2 repo_string string; 3 code_version string
TelemetryDeprecated: 5 plots bool; 7 init__config_include_keys bool; 8 init__config_exclude_keys bool;
  11 artifact__get_path bool; 12 artifactmanifestentry__name bool; 13 api__artifact_versions bool;
  14 artifact_collection__change_type bool; 15 run__define_metric_copy bool; 16 run_disabled bool;
  20 run__reinit_bool bool; 25 run__use_artifact_use_as bool; 26 artifact__use_as bool;
  27 artifact__init_use_as bool; 31 kfp_v1_wandb_log bool; 32 wandb_api bool
TelemetryImports: 1 torch bool; 2 keras bool; 3 tensorflow bool; 4 fastai bool; 5 sklearn bool;
  6 xgboost bool; 7 catboost bool; 8 lightgbm bool; 9 pytorch_lightning bool; 10 ignite bool;
  11 transformers bool; 12 jax bool; 13 metaflow bool; 14 allennlp bool; 15 autogluon bool; 16 autokeras bool;
  18 catalyst bool; 21 deepchem bool; 22 deepctr bool; 28 pycaret bool; 29 pytorchvideo bool; 30 ray bool;
  31 simpletransformers bool; 32 skorch bool; 33 spacy bool; 34 flash bool; 35 optuna bool; 36 recbole bool;
  37 mmcv bool; 38 mmdet bool; 39 torchdrug bool; 40 torchtext bool; 41 torchvision bool; 42 elegy bool;
  43 detectron2 bool; 44 flair bool; 45 flax bool; 46 syft bool; 47 TTS bool; 48 monai bool;
  49 huggingface_hub bool; 50 hydra bool; 51 datasets bool; 52 sacred bool; 53 joblib bool; 54 dask bool;
  56 paddleocr bool; 57 ppdet bool; 58 paddleseg bool; 59 paddlenlp bool; 60 mmseg bool; 61 mmocr bool;
  62 mmcls bool; 63 timm bool; 64 fairseq bool; 65 deepchecks bool; 66 composer bool; 67 sparseml bool;
  68 anomalib bool; 69 zenml bool; 70 colossalai bool; 71 accelerate bool; 72 merlin bool; 73 nanodet bool;
  74 segmentation_models_pytorch bool; 75 sentence_transformers bool; 76 dgl bool; 77 torch_geometric bool;
  78 jina bool; 79 kornia bool; 80 albumentations bool; 81 keras_cv bool; 82 mmengine bool; 83 diffusers bool;
  84 trl bool; 85 trlx bool; 86 langchain bool; 87 llama_index bool; 88 stability_sdk bool; 89 prefect bool;
  90 prefect_ray bool; 91 pinecone bool; 92 chromadb bool; 93 weaviate bool; 94 promptlayer bool;
  95 openai bool; 96 cohere bool; 97 anthropic bool; 98 peft bool; 99 optimum bool; 100 evaluate bool;
  101 langflow bool; 102 keras_core bool; 103 lightning_fabric bool; 104 curated_transformers bool;
  105 orjson bool; 106 lightning bool; 107 dspy bool

ArtifactRecord: 1 run_id string; 2 project string; 3 entity string; 4 type string; 5 name string; 6 digest string;
  7 description string; 8 metadata string; 9 user_created bool; 10 use_after_commit bool; 11 aliases string*;
  12 manifest ArtifactManifest; 13 distributed_id string; 14 finalize bool; 15 client_id string;
  16 sequence_client_id string; 17 base_id string; 18 ttl_duration_seconds int64; 19 tags string*;
  20 digest_algorithm string; 100 incremental_beta1 bool
ArtifactManifest: 1 version int32; 2 storage_policy string; 3 storage_policy_config StoragePolicyConfigItem*;
  4 contents ArtifactManifestEntry*; 5 manifest_file_path string
StoragePolicyConfigItem: 1 key string; 2 value_json string
ArtifactManifestEntry: 1 path string; 2 digest string; 3 ref string; 4 size int64; 5 mimetype string;
  6 local_path string; 7 birth_artifact_id string; 8 skip_cache bool; 16 extra ExtraItem*
ExtraItem: 1 key string; 2 value_json string
UseArtifactRecord: 1 id string; 2 type string; 3 name string; 4 partial PartialJobArtifact
PartialJobArtifact: 1 job_name string; 2 source_info JobSource
JobSource: 1 _version string; 2 source_type string; 3 source Source; 4 runtime string
Source: 1 git GitSource; 2 artifact ArtifactInfo; 3 image ImageSource
GitSource: 1 git_info GitInfo; 2 entrypoint string*; 3 notebook bool; 4 build_context string;
  5 dockerfile string
GitInfo: 1 remote string; 2 commit string
ArtifactInfo: 1 artifact string; 2 entrypoint string*; 3 notebook bool; 4 build_context string;
  5 dockerfile string
ImageSource: 1 image string
"""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its number on the wire, its name, and what it holds."""

    number: int
    name: str
    kind: str
    repeated: bool = False
    optional: bool = False
    oneof: str | None = None
    map_key: str | None = None
    """Kind of the key when the field is a map; `kind` is then the kind of the value."""


@cache
def messages() -> dict[str, tuple[Field, ...]]:
    """Message name → its fields, in the order of the table."""
    table: dict[str, tuple[Field, ...]] = {}
    text = ""
    for line in _TABLE.splitlines():
        text = f"{text} {line.strip()}" if line.startswith("  ") else line
        if text and not text.rstrip().endswith(";"):
            name, _, clauses = text.partition(":")
            table[name] = tuple(_field(c) for c in clauses.split(";") if c.strip())
            text = ""
    return table


def _field(clause: str) -> Field:
    number, name, kind, *marks = clause.split()
    repeated = kind.endswith("*")
    kind = kind.rstrip("*")
    map_key = None
    if kind.startswith("map<"):
        map_key, kind = kind[4:-1].split(",")
    oneof = next((m[1:] for m in marks if m.startswith("@")), None)
    return Field(int(number), name, kind, repeated, "?" in marks, oneof, map_key)
