//===- VgpuMain.cpp - runs a PTX file on the virtual GPU --------------------------------------===//

#include "tw-vgpu/VgpuMain.h"

#include "vgpu/LaunchFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace {
/// Registered while they live: in a process with other tools, `<kernel.ptx>` is not for those.
struct Options {
  cl::OptionCategory category{"Options of tw-vgpu"};
  cl::opt<std::string> ptxFile{cl::Positional, cl::desc("<kernel.ptx>"), cl::Required,
                               cl::cat(category)};
  cl::opt<std::string> launchFile{"launch", cl::desc("Launch description in JSON"),
                                  cl::value_desc("launch.json"), cl::cat(category)};
  cl::opt<std::string> checks{"checks",
                              cl::desc("all, none, or a list such as "
                                       "race,uninitialized"),
                              cl::init("all"), cl::cat(category)};
  cl::opt<std::string> mode{"mode",
                            cl::desc("When asynchronous operations take effect: early (at "
                                     "their issue) or late (at the wait for them)"),
                            cl::cat(category)};
  cl::opt<bool> asJson{"json", cl::desc("Print one JSON object"), cl::cat(category)};
  cl::opt<bool> showCounters{"counters", cl::desc("Print the counters"), cl::cat(category)};
  cl::opt<unsigned> numThreads{"host-threads", cl::desc("Threads of the host (0: all cores)"),
                               cl::init(0), cl::cat(category)};
};
} // namespace

static constexpr llvm::StringLiteral example = R"(
EXAMPLE
  A kernel that doubles 64 floats, and its launch:

    cat > twice.ptx <<'END'
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry twice(.param .u64 x) {
      .reg .b32 %r<2>; .reg .f32 %f<3>; .reg .b64 %rd<5>;
      ld.param.u64 %rd1, [x];
      cvta.to.global.u64 %rd2, %rd1;
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd3, %r1, 4;
      add.s64 %rd4, %rd2, %rd3;
      ld.global.f32 %f1, [%rd4];
      add.f32 %f2, %f1, %f1;
      st.global.f32 [%rd4], %f2;
      ret;
    }
    END
    echo '{"entry": "twice", "grid": [1], "block": [64],
           "args": [{"dtype": "f32", "shape": [64], "range": true, "print": true}]}' > twice.json
    tw-vgpu twice.ptx --launch twice.json --counters

EXIT STATUS
  0: no findings; 1: findings; 2: the PTX or the launch was refused
)";

static int fail(llvm::Error error) {
  llvm::errs() << "tw-vgpu: " << llvm::toString(std::move(error)) << "\n";
  return 2;
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return llvm::createStringError("cannot read '" + path.str() +
                                   "': " + buffer.getError().message());
  return std::move(*buffer);
}

static llvm::Error writeOutputs(const vgpu::LaunchFile &launch) {
  for (const vgpu::LaunchArray &array : launch.arrays) {
    if (array.outputFile.empty())
      continue;
    std::error_code error;
    llvm::raw_fd_ostream stream(array.outputFile, error);
    if (error)
      return llvm::createStringError("cannot write '" + array.outputFile + "': " + error.message());
    stream.write(reinterpret_cast<const char *>(array.bytes.data()), array.bytes.size());
  }
  return llvm::Error::success();
}

static void printJson(const vgpu::LaunchFile &launch, const vgpu::LaunchResult &result,
                      bool showCounters) {
  llvm::json::Array findings, arrays;
  for (const vgpu::Finding &finding : result.findings)
    findings.push_back(finding.toJson());
  for (const vgpu::LaunchArray &array : launch.arrays)
    if (array.isPrinted)
      arrays.push_back(vgpu::arrayToJson(array));
  llvm::json::Object object{{"complete", result.isComplete}, {"findings", std::move(findings)}};
  if (!result.output.empty())
    object["output"] = llvm::json::fixUTF8(result.output);
  if (showCounters)
    object["counters"] = result.counters.toJson();
  if (!arrays.empty())
    object["arrays"] = std::move(arrays);
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << "\n";
}

static void printText(const vgpu::LaunchFile &launch, const vgpu::LaunchResult &result,
                      bool showCounters) {
  llvm::outs() << result.output;
  for (const vgpu::Finding &finding : result.findings)
    llvm::outs() << finding.text() << "\n";
  for (const vgpu::LaunchArray &array : launch.arrays)
    if (array.isPrinted)
      llvm::outs() << vgpu::arrayToJson(array) << "\n";
  if (showCounters)
    llvm::outs() << result.counters.text();
  if (result.findings.empty())
    llvm::outs() << "no findings\n";
}

static int listKernels(const vgpu::Module &module) {
  for (const auto &kernel : module.kernels())
    llvm::outs() << kernel->name << ": " << kernel->params.size() << " parameters, "
                 << kernel->code.size() << " instructions, " << kernel->staticSharedBytes
                 << " bytes of static shared memory\n";
  return 0;
}

int tilewright::tools::runVgpu(int argc, char **argv) {
  Options options;
  cl::extrahelp help(example);
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(argc, argv, "Runs PTX without a GPU and checks it while it runs.\n");
  auto text = readFile(options.ptxFile);
  if (!text)
    return fail(text.takeError());
  auto module = vgpu::parsePtx((*text)->getBuffer(), options.ptxFile);
  if (!module)
    return fail(module.takeError());
  if (options.launchFile.empty())
    return listKernels(**module);
  auto json = readFile(options.launchFile);
  if (!json)
    return fail(json.takeError());
  auto launch =
      vgpu::parseLaunchFile((*json)->getBuffer(), llvm::sys::path::parent_path(options.launchFile));
  if (!launch)
    return fail(launch.takeError());
  auto checkSet = vgpu::CheckSet::parse(options.checks);
  if (!checkSet)
    return fail(checkSet.takeError());
  launch->config.checks = *checkSet;
  if (!options.mode.empty()) {
    auto time = vgpu::parseAsyncTime(options.mode);
    if (!time)
      return fail(time.takeError());
    launch->config.asyncTime = *time;
  }
  launch->config.numThreads = options.numThreads;
  launch->config.countMemory = options.showCounters;
  auto result = vgpu::launch(**module, launch->config, launch->arguments);
  if (!result)
    return fail(result.takeError());
  if (llvm::Error error = writeOutputs(*launch))
    return fail(std::move(error));
  if (options.asJson)
    printJson(*launch, *result, options.showCounters);
  else
    printText(*launch, *result, options.showCounters);
  return result->isClean() ? 0 : 1;
}
