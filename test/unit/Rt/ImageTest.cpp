//===- ImageTest.cpp - what a library says about itself is read as it was written -------------===//

#include "tilewright/Rt/Image.h"

#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::rt;

namespace {

Image makeImage() {
  Image image;
  image.release = "1.2.3";
  Function &function = image.functions.emplace_back();
  function.name = "gemm";
  Form &form = function.forms.emplace_back();
  form.signature.name = "main";
  form.signature.symbols = {{"n", true, true}};
  form.signature.numSymbolArguments = 1;
  Parameter &tensor = form.signature.parameters.emplace_back();
  tensor.name = "A";
  tensor.dtype = "float16";
  tensor.elementBytes = 2;
  tensor.isTensor = true;
  Extent &extent = tensor.extents.emplace_back();
  extent.formula = *Formula::make({{Formula::Op::Symbol, 0}});
  extent.factor = 1;
  tensor.positions = Formula(8);
  form.cpu.push_back({"x86-64-v3", CpuFeatures::getLevel3(), false, 1});
  GpuVariant &gpu = form.gpu.emplace_back();
  gpu.arch = "sm_90a";
  gpu.divisible = {0};
  gpu.launches.grids.push_back({Formula(1), std::nullopt});
  gpu.code = std::string("ptx\0", 4);
  TensorMapRecipe map;
  map.type = TensorMapType::BF16;
  map.box = {8, 16};
  gpu.kernels.push_back({"gemm_kernel", 128, 4096, {map}});
  return image;
}

Result<Image> read(const std::string &bytes, unsigned numEntries = 2) {
  return readImage({reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size()},
                   numEntries);
}

} // namespace

TEST(ImageTest, IsReadAsItWasWritten) {
  std::string bytes = writeImage(makeImage());
  Result<Image> image = read(bytes);
  ASSERT_TRUE(bool(image));
  EXPECT_EQ(writeImage(*image), bytes);
  const Form &form = image->functions[0].forms[0];
  EXPECT_EQ(form.signature.parameters[0].positions->getConstant(), 8);
  EXPECT_EQ(form.cpu[0].needs, CpuFeatures::getLevel3());
  EXPECT_FALSE(form.gpu[0].launches.grids[0][1].has_value());
  EXPECT_EQ(form.gpu[0].code.size(), 4u);
  EXPECT_EQ(form.gpu[0].kernels[0].maps[0].type, TensorMapType::BF16);
}

TEST(ImageTest, ASymbolThatNoCallPassesIsRefused) {
  Image image = makeImage();
  Form &form = image.functions[0].forms[0];
  form.gpu[0].divisible = {form.signature.numSymbolArguments};
  EXPECT_FALSE(read(writeImage(image)));
}

TEST(ImageTest, DamageIsNoticed) {
  std::string bytes = writeImage(makeImage());
  for (size_t position = 0; position < bytes.size(); ++position) {
    std::string damaged = bytes;
    damaged[position] ^= 0x10;
    EXPECT_FALSE(read(damaged)) << "byte " << position;
    EXPECT_FALSE(read(bytes.substr(0, position))) << "the first " << position;
  }
  EXPECT_FALSE(read(bytes, /*numEntries=*/1)); // it names an entry that is not there
}

TEST(CpuFeaturesTest, LevelsIncludeEachOther) {
  EXPECT_TRUE(CpuFeatures::getLevel4().hasAll(CpuFeatures::getLevel3()));
  EXPECT_FALSE(CpuFeatures::getLevel3().hasAll(CpuFeatures::getLevel4()));
  EXPECT_TRUE(CpuFeatures::detect().hasAll(CpuFeatures::detect()));
  EXPECT_EQ(CpuFeatures::detect().hasAll(CpuFeatures::getLevel3()),
            bool(__builtin_cpu_supports("x86-64-v3")));
  EXPECT_EQ(CpuFeatures::detect().hasAll(CpuFeatures::getLevel4()),
            bool(__builtin_cpu_supports("x86-64-v4")));
}
