// The table of explanations.
#include "explain/drf.hpp"
#include "explain/hived.hpp"

namespace muster {

namespace {
/// What `backfill` and `schedule` read.
constexpr const char* kJobs =
    "// Times in seconds. Optional: \"est\" (an estimate, also the limit), \"prio\" (smaller first), \"policies\": [\"fifo\", "
    "\"sjf\"].\n"
    "{\n"
    " \"gpus\": 4,\n"
    " \"jobs\": [\n"
    "  {\"id\": \"A\", \"submit\": 0, \"size\": 2, \"run\": 10},\n"
    "  {\"id\": \"B\", \"submit\": 1, \"size\": 4, \"run\": 5},\n"
    "  {\"id\": \"C\", \"submit\": 2, \"size\": 2, \"run\": 6},\n"
    "  {\"id\": \"D\", \"submit\": 3, \"size\": 2, \"run\": 9}\n"
    " ]\n"
    "}\n"
    "// The same as CSV:\n"
    "// id,submit,size,run\n"
    "// capacity,,4,\n"
    "// A,0,2,10\n"
    "// B,1,4,5\n"
    "// C,2,2,6\n"
    "// D,3,2,9\n";
}  // namespace

std::span<const Explanation> explanations() {
  static constexpr Explanation kExplanations[] = {
      {"backfill", "jobs on GPUs, first in first out beside the ways of backfilling", kJobs, explain_backfill},
      {"buddy", "buddy allocation: power-of-two blocks, or cells of any fan-out, lowest-numbered first",
       "// Or cells: \"roots\": 2, \"children_per_level_from_root\": [2, 2, 2] in place of size and min_block.\n"
       "{\n"
       " \"size\": 1024, \"min_block\": 1,\n"
       " \"ops\": [[\"alloc\", \"A\", 100], [\"alloc\", \"B\", 240], [\"free\", \"A\"]]\n"
       "}\n",
       explain_buddy},
      {"drf", "dominant resource fairness, step by step; or from the first placements back",
       "// A cluster, and users whose tasks all ask the same. Optional: \"weight\" and \"tasks\" of a user, \"ties\": [\"B\", \"A\"],\n"
       "// \"rule\": \"stop\" (the paper's) or \"skip\"; \"order\": [\"B\", \"A\", \"A\"] asks what was compared when tasks began in that "
       "order.\n"
       "{\n"
       " \"capacity\": {\"cpu\": 9, \"mem_gb\": 18},\n"
       " \"users\": {\n"
       "  \"A\": {\"demand\": {\"cpu\": 1, \"mem_gb\": 4}},\n"
       "  \"B\": {\"demand\": {\"cpu\": 3, \"mem_gb\": 1}}\n"
       " }\n"
       "}\n"
       "// The same as CSV:\n"
       "// user,cpu,mem_gb\n"
       "// capacity,9,18\n"
       "// A,1,4\n"
       "// B,3,1\n",
       explain_drf},
      {"hived", "HiveD's cells step by step: free lists, owners, what is split and merged and why",
       "// Steps: submit and release of a group, node_bad and node_healthy of a node. Instead of cluster and vcs, HiveD's own\n"
       "// physicalCluster and virtualClusters. Of a group also: leaf_type, pinned, lazy_preemption; priority -1 is opportunistic.\n"
       "{\n"
       " \"cluster\": {\n"
       "  \"cell_types\": {\"SWITCH\": {\"child\": \"GPU\", \"count\": 4}, \"NODE\": {\"child\": \"SWITCH\", \"count\": 2, \"is_node\": "
       "true},\n"
       "                 \"RACK\": {\"child\": \"NODE\", \"count\": 2}},\n"
       "  \"physical_cells\": [{\"type\": \"RACK\", \"children\": [{\"address\": \"n0\"}, {\"address\": \"n1\"}]}]\n"
       " },\n"
       " \"vcs\": {\"A\": {\"cells\": [{\"path\": \"RACK.NODE\", \"count\": 1}]}, \"B\": {\"cells\": [{\"path\": \"RACK.NODE.SWITCH\", "
       "\"count\": 2}]}},\n"
       " \"groups\": {\n"
       "  \"a\": {\"vc\": \"A\", \"priority\": 0, \"members\": [{\"pods\": 1, \"leaf_cells\": 8}]},\n"
       "  \"b1\": {\"vc\": \"B\", \"priority\": 0, \"members\": [{\"pods\": 1, \"leaf_cells\": 4}]},\n"
       "  \"b2\": {\"vc\": \"B\", \"priority\": 0, \"members\": [{\"pods\": 1, \"leaf_cells\": 4}]}\n"
       " },\n"
       " \"events\": [{\"op\": \"submit\", \"group\": \"b1\"}, {\"op\": \"submit\", \"group\": \"a\"}, {\"op\": \"submit\", \"group\": "
       "\"b2\"},\n"
       "            {\"op\": \"release\", \"group\": \"b1\"}, {\"op\": \"release\", \"group\": \"a\"}, {\"op\": \"release\", \"group\": "
       "\"b2\"}]\n"
       "}\n",
       explain_hived},
      {"image", "Dockerfiles: which instructions make layers, when each acts, what images share",
       "# Give one or more files: muster explain image train/Dockerfile serve/Dockerfile\n"
       "FROM python:3.11-slim\n"
       "WORKDIR /app\n"
       "COPY requirements.txt .\n"
       "RUN pip install -r requirements.txt\n"
       "COPY . .\n"
       "ENTRYPOINT [\"python\"]\n"
       "CMD [\"train.py\"]\n",
       nullptr, explain_image},
      {"maxmin", "max-min fair shares by progressive filling; of links too, and of whole units",
       "// Optional: \"weights\": {\"a\": 2}, weight 0 being served last; \"indivisible\": true for whole units, one at a time.\n"
       "// Or \"links\": {\"AC\": 1, ...} and \"flows\": {\"f1\": [\"AC\", \"CE\"], ...}.\n"
       "{\n"
       " \"capacity\": 10,\n"
       " \"demands\": {\"a\": 2, \"b\": 2.6, \"c\": 4, \"d\": 5}\n"
       "}\n"
       "// The same as CSV:\n"
       "// user,demand\n"
       "// capacity,10\n"
       "// a,2\n"
       "// b,2.6\n"
       "// c,4\n"
       "// d,5\n",
       explain_maxmin},
      {"schedule", "jobs on GPUs under several policies, side by side", kJobs, explain_schedule},
  };
  return kExplanations;
}

}  // namespace muster
