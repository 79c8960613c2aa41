// The table of explanations.
#include "explain/drf.hpp"

namespace muster {

std::span<const Explanation> explanations() {
  static constexpr Explanation kExplanations[] = {
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
  };
  return kExplanations;
}

}  // namespace muster
