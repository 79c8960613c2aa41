// What of a Dockerfile becomes a layer, and what two images share.
#pragma once
#include "explain/document.hpp"
#include "explain/dockerfile.hpp"

namespace muster {

/// A layer that a stage adds.
struct ImageLayer {
  size_t line = 0;
  std::string text;  ///< the instruction, on one line
  std::string key;   ///< what decides it besides the layers below: equal keys on equal layers are one layer
};

/// An image as its last stage leaves it.
struct ImageLayers {
  std::string base;  ///< "scratch" has no layers
  std::vector<ImageLayer> layers;
  std::string starts;  ///< what runs in a container of it; empty: what the base says
};

/// Layers by the rule of BuildKit (the builder of Docker since 23.0): RUN, COPY and ADD make one each. RUN is decided by its command and by
/// ENV, ARG, USER, WORKDIR and SHELL before it; COPY and ADD by sources, target and, with --from, the stage. All else only changes the
/// image's configuration. Files of one name in the build context are taken to be equal.
ImageLayers image_layers(const Dockerfile& d);

/// Layers at the bottom that both images have.
size_t shared_layers(const ImageLayers& a, const ImageLayers& b);

struct ExplainedText {
  std::string file, text;
};
/// One table a file: each instruction, whether it makes a layer or is metadata, and when it acts; then the layers of all files as a tree.
Document explain_image(std::span<const ExplainedText> files);

}  // namespace muster
