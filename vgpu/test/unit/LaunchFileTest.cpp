//===- LaunchFileTest.cpp - the numbers of launch files -----------------------------------===//

#include "vgpu/LaunchFile.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace vgpu;

namespace {

llvm::Expected<LaunchFile> parse(const std::string &argument) {
  return parseLaunchFile(R"({"entry": "k", "grid": [1], "block": [1], "args": [)" + argument + "]}",
                         "");
}

/// What an array of the file holds once it has been read.
std::string readBack(const std::string &argument) {
  llvm::Expected<LaunchFile> file = parse(argument);
  if (!file)
    return llvm::toString(file.takeError());
  std::string text;
  llvm::raw_string_ostream(text) << arrayToJson(file->arrays.front());
  return text;
}

TEST(LaunchFile, IntegersAreExact) {
  EXPECT_EQ(
      readBack(
          R"({"dtype": "u64", "shape": [2], "data": [18446744073709551615, 9007199254740993]})"),
      "[18446744073709551615,9007199254740993]");
  EXPECT_EQ(readBack(R"({"dtype": "s64", "shape": [2], "data": [-9223372036854775808, -1]})"),
            "[-9223372036854775808,-1]");
  EXPECT_EQ(readBack(R"({"dtype": "s8", "shape": [2], "data": [-128, 127]})"), "[-128,127]");
}

TEST(LaunchFile, FloatsAreNumbersOrNames) {
  EXPECT_EQ(readBack(R"({"dtype": "f32", "shape": [2], "data": [0.5, 1e60]})"), R"([0.5,"inf"])");
}

TEST(LaunchFile, WhatIsNoNumberOfTheTypeIsRefused) {
  EXPECT_NE(readBack(R"({"dtype": "s32", "shape": [2], "data": [1, 1e30]})")
                .find("element 1 of 'data' is no number of its dtype"),
            std::string::npos);
  EXPECT_NE(readBack(R"({"dtype": "u32", "value": "three"})").find("'value' is no number"),
            std::string::npos);
  EXPECT_NE(readBack(R"({"dtype": "b128", "shape": [1], "zeros": true})").find("unknown dtype"),
            std::string::npos);
}

} // namespace
