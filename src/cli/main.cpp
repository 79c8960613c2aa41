#include <unistd.h>

#include "cli/commands.hpp"

int main(int argc, char** argv) {
  const int status = muster::cli::program(argc, argv);
  // All files are written, checked and closed by now; taking a million jobs apart again would only cost time.
  _exit(status);
}
