//===- DenseCopiesTest.cpp - copies of strided tensors against a search byte by byte ----------===//

#include "tilewright/Rt/DenseCopies.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace tilewright;
using namespace tilewright::rt;

namespace {
/// A tensor in a common memory, and the bytes of its elements in row-major order.
struct Strided {
  std::vector<int64_t> shape, strides;
  unsigned elementBytes = 1;
  char *data = nullptr;

  std::vector<char *> bytes() const {
    int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
    std::vector<char *> found;
    for (int64_t number = 0; number < count; ++number) {
      int64_t rest = number, offset = 0;
      for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
        offset += rest % shape[dim] * strides[dim];
      for (unsigned byte = 0; byte < elementBytes; ++byte)
        found.push_back(data + offset * elementBytes + byte);
    }
    return found;
  }

  Argument argument() const {
    Argument made;
    made.data = data;
    made.shape = shape;
    made.strides = strides;
    made.dtype = "any";
    return made;
  }
};

class DenseCopiesTest : public testing::Test {
protected:
  std::mt19937 random{7};
  std::vector<char> memory = std::vector<char>(2000);

  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Strided drawTensor(int64_t most) {
    Strided made;
    made.elementBytes = 1U << draw(0, 2);
    for (int64_t rank = draw(1, 3); rank > 0; --rank) {
      made.shape.push_back(draw(0, 20) ? draw(1, most) : 0);
      made.strides.push_back(0);
    }
    int64_t next = draw(0, 2) ? 1 : draw(1, 3); // dense where nothing is left between
    for (size_t dim = made.shape.size(); dim-- > 0;) {
      bool turned = draw(0, 5) == 0;
      made.strides[dim] = turned ? -next : next;
      next = next * std::max<int64_t>(made.shape[dim], 1) + (draw(0, 2) ? 0 : draw(1, 4));
    }
    made.data = memory.data() + 1000 + draw(0, 24) * 4;
    return made;
  }
};

Parameter describe(const Strided &tensor, bool isWritten, bool isStrided) {
  Parameter made;
  made.name = isWritten ? "W" : "R";
  made.dtype = "any";
  made.isTensor = true;
  made.isWritten = isWritten;
  made.elementBytes = tensor.elementBytes;
  made.extents.resize(tensor.shape.size());
  for (Extent &extent : made.extents)
    extent.isKnown = false;
  for (int64_t stride : isStrided ? tensor.strides : std::vector<int64_t>()) {
    Extent extent;
    extent.formula = *Formula::make({{Formula::Op::Constant, stride}});
    made.strides.push_back(extent);
  }
  return made;
}
} // namespace

TEST_F(DenseCopiesTest, CopiesHoldTheElementsAndSharedOnesAreRefused) {
  unsigned numShared = 0, numCopies = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<Strided> tensors = {drawTensor(3), drawTensor(3)};
    bool writes[] = {draw(0, 1) != 0, draw(0, 1) != 0};
    Signature signature;
    std::vector<Argument> arguments;
    for (unsigned i = 0; i < 2; ++i) {
      signature.parameters.push_back(describe(tensors[i], writes[i], /*isStrided=*/true));
      arguments.push_back(tensors[i].argument());
    }
    for (char &byte : memory)
      byte = char(random());
    DenseCopies::mark(signature, arguments);
    Binding binding;
    ASSERT_FALSE(bindArguments(signature, arguments, binding));

    std::vector<std::vector<char *>> bytes = {tensors[0].bytes(), tensors[1].bytes()};
    std::set<char *> first(bytes[0].begin(), bytes[0].end());
    bool shares = std::ranges::any_of(bytes[1], [&](char *byte) { return first.contains(byte); });
    bool isCopied = arguments[0].isPacked || arguments[1].isPacked;
    DenseCopies copies;
    MaybeFailure failure = copies.make(signature, arguments, binding);
    ASSERT_EQ(failure.has_value(), shares && isCopied && (writes[0] || writes[1])) << trial;
    numShared += failure.has_value();
    if (failure)
      continue;

    std::vector<char> before = memory, after = memory;
    for (unsigned i = 0; i < 2; ++i) {
      auto *dense = reinterpret_cast<char *>(binding.slots[i]);
      ASSERT_EQ(dense != tensors[i].data, arguments[i].isPacked && !bytes[i].empty()) << trial;
      for (size_t at = 0; at < bytes[i].size(); ++at)
        ASSERT_EQ(dense[at], *bytes[i][at]) << trial;
      if (!arguments[i].isPacked)
        continue;
      ++numCopies;
      // The kernel writes other numbers: they arrive where the tensor is written, and nowhere else.
      for (size_t at = 0; at < bytes[i].size(); ++at) {
        dense[at] = char(dense[at] + 1 + int(at));
        if (writes[i])
          after[bytes[i][at] - memory.data()] = dense[at];
      }
    }
    copies.writeBack();
    ASSERT_EQ(memory, after) << trial;
  }
  EXPECT_GT(numShared, 500u);
  EXPECT_GT(numCopies, 1000u);
}

TEST_F(DenseCopiesTest, DenseTensorsAndThoseWithoutStridesOfTheirOwnAreNotCopied) {
  Strided dense{{2, 1, 3}, {3, 77, 1}, 4, memory.data()}, apart{{2, 3}, {4, 1}, 4, memory.data()};
  Strided empty{{2, 0}, {7, 5}, 4, memory.data()};
  auto isMarked = [&](const Strided &tensor, bool isStrided, bool isOnGpu) {
    Signature signature;
    signature.parameters.push_back(describe(tensor, true, isStrided));
    std::vector<Argument> arguments = {tensor.argument()};
    arguments[0].isOnGpu = isOnGpu;
    DenseCopies::mark(signature, arguments);
    return arguments[0].isPacked;
  };
  EXPECT_FALSE(isMarked(dense, true, false));
  EXPECT_FALSE(isMarked(empty, true, false));
  EXPECT_FALSE(isMarked(apart, false, false));
  EXPECT_FALSE(isMarked(apart, true, true));
  EXPECT_TRUE(isMarked(apart, true, false));
}
