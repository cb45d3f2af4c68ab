//===- Traces.cpp - Trace in Python ----------------------------------------------------------===//

#include "Bindings.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Tile/Statements.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

/// Looks up an enum by its keyword; throws for an unknown one.
template <typename Enum>
Enum toEnum(const std::string &name, std::optional<Enum> (*symbolize)(llvm::StringRef),
            const char *what) {
  if (std::optional<Enum> value = symbolize(name))
    return *value;
  throw UserError(std::string("unknown ") + what + " '" + name + "'");
}

std::optional<Operand> toOptionalOperand(nb::handle object, llvm::StringRef what) {
  if (object.is_none())
    return std::nullopt;
  return toOperand(object, what);
}

const Fragment *toFragment(nb::handle object) {
  return object.is_none() ? nullptr : nb::cast<const Fragment *>(object);
}

LoopKind toLoopKind(const std::string &name) {
  return name == "unroll"       ? LoopKind::Unroll
         : name == "vectorized" ? LoopKind::Vectorized
                                : LoopKind::Serial;
}

void bindRegions(nb::class_<Trace> &cls) {
  cls.def("kernel_begin", [](Trace &self, nb::object grid, const std::vector<int64_t> &threads) {
    return fromScalars(self.controlFlow.kernelBegin(toOperands(grid, "grid extent"), threads));
  });
  cls.def("thread_index",
          [](Trace &self, int64_t dim) { return self.threadStatements.threadIndex(dim); });
  cls.def(
      "alloc_barriers",
      [](Trace &self, const std::string &name, const std::vector<int64_t> &arrivals, bool atStart) {
        return self.threadStatements.allocBarriers(name, arrivals, atStart);
      },
      nb::arg("name"), nb::arg("arrivals"), nb::arg("at_start") = false);
  cls.def(
      "barrier_arrive",
      [](Trace &self, const Element &barrier, bool once, std::optional<int64_t> count,
         nb::object bytes) {
        self.threadStatements.barrierArrive(barrier, once, count,
                                            toOptionalOperand(bytes, "expected bytes"));
      },
      nb::arg("barrier"), nb::arg("once") = false, nb::arg("count").none() = nb::none(),
      nb::arg("expect_bytes").none() = nb::none());
  cls.def(
      "barrier_wait",
      [](Trace &self, const Element &barrier, nb::object parity, std::optional<int64_t> count) {
        self.threadStatements.barrierWait(barrier, toOptionalOperand(parity, "parity"), count);
      },
      nb::arg("barrier"), nb::arg("parity").none() = nb::none(),
      nb::arg("count").none() = nb::none());
  cls.def("grid_sync", [](Trace &self) { self.threadStatements.gridSync(); });
  cls.def(
      "parallel_begin",
      [](Trace &self, nb::object extents, std::optional<int64_t> width, nb::object layout) {
        return fromScalars(self.controlFlow.parallelBegin(
            toOperands(extents, "'T.Parallel' extent"), width, toFragment(layout)));
      },
      nb::arg("extents"), nb::arg("coalesced_width").none() = nb::none(),
      nb::arg("loop_layout").none() = nb::none());
  cls.def(
      "pipelined_begin",
      [](Trace &self, nb::object start, nb::object stop, int64_t stages,
         std::optional<std::vector<int64_t>> order, std::optional<std::vector<int64_t>> stage) {
        auto view = [](const std::optional<std::vector<int64_t>> &list) {
          return list ? std::optional<llvm::ArrayRef<int64_t>>(*list) : std::nullopt;
        };
        return self.controlFlow.pipelinedBegin(toOperand(start, "start of 'T.Pipelined'"),
                                               toOperand(stop, "stop of 'T.Pipelined'"), stages,
                                               view(order), view(stage));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("num_stages"),
      nb::arg("order").none() = nb::none(), nb::arg("stage").none() = nb::none());
  cls.def("for_begin", [](Trace &self, nb::object start, nb::object stop, int64_t step,
                          const std::string &kind) {
    return self.controlFlow.forBegin(toOperand(start, "start of a loop"),
                                     toOperand(stop, "stop of a loop"), step, toLoopKind(kind));
  });
  cls.def(
      "persistent_begin",
      [](Trace &self, nb::object domain, nb::object wave, nb::object index, int64_t) {
        return fromScalars(self.controlFlow.persistentBegin(
            toOperands(domain, "extent of 'T.Persistent'"), toOperand(wave, "wave_size"),
            toOperand(index, "index")));
      },
      nb::arg("domain"), nb::arg("wave_size"), nb::arg("index"), nb::arg("group_size") = 8);
  cls.def("if_begin", [](Trace &self, nb::object condition) {
    self.controlFlow.ifBegin(toOperand(condition, "condition"));
  });
  cls.def("else_begin", [](Trace &self) { self.controlFlow.elseBegin(); });
  cls.def("if_merge", [](Trace &self, nb::list names) {
    std::vector<MergedName> merged;
    for (nb::handle entry : names)
      merged.push_back({nb::cast<std::string>(entry[0]), toOperand(entry[1], "assigned value"),
                        toOperand(entry[2], "assigned value")});
    nb::list result;
    for (const Variable &variable : self.controlFlow.ifMerge(merged))
      result.append(nb::cast(variable));
    return result;
  });
  cls.def("while_begin", [](Trace &self) { self.controlFlow.whileBegin(); });
  cls.def("while_cancel", [](Trace &self, bool keep) { self.controlFlow.whileCancel(keep); });
  cls.def("while_body", [](Trace &self, nb::object condition) {
    self.controlFlow.whileBody(toOperand(condition, "condition of 'while'"));
  });
  cls.def("end", [](Trace &self) { self.regions.end(); });
  cls.def("depth", [](Trace &self) { return self.regions.getDepth(); });
  cls.def("region_kind", [](const Trace &self) { return self.regions.getKind().str(); });
  cls.def("select_begin", [](Trace &self, nb::object condition) {
    self.conditionals.begin(toOperand(condition, "condition"));
  });
  cls.def("select_else", [](Trace &self, nb::object value) {
    self.conditionals.otherwise(toOperand(value, "value of a conditional expression"));
  });
  cls.def("select_end", [](Trace &self, nb::object value) {
    return self.conditionals.end(toOperand(value, "value of a conditional expression"));
  });
}

void bindBuffers(nb::class_<Trace> &cls) {
  cls.def(
      "param_tensor",
      [](Trace &self, const std::string &name, nb::object shape, const std::string &dtype,
         nb::object strides) {
        return self.signature.addTensor(name, toShape(shape, "shape of '" + name + "'"),
                                        parseDType(dtype, self.getContext()),
                                        toShape(strides, "strides of '" + name + "'"));
      },
      nb::arg("name"), nb::arg("shape"), nb::arg("dtype"), nb::arg("strides") = nb::list());
  cls.def("param_scalar", [](Trace &self, const std::string &name, const std::string &dtype) {
    return self.signature.addScalar(name, parseDType(dtype, self.getContext()));
  });
  cls.def("alloc_global",
          [](Trace &self, const std::string &name, nb::object shape, const std::string &dtype) {
            return self.buffers.allocGlobal(name, toShape(shape, "shape of a workspace"),
                                            parseDType(dtype, self.getContext()));
          });
  cls.def(
      "alloc",
      [](Trace &self, const std::string &name, nb::object shape, const std::string &dtype,
         const std::string &scope, std::optional<std::string> reducer) {
        std::optional<tile::ReduceKind> kind;
        if (reducer)
          kind = toEnum<tile::ReduceKind>(*reducer, tile::symbolizeReduceKind, "reducer operation");
        return self.buffers.allocTile(
            name, toShape(shape, "shape of a tile"), parseDType(dtype, self.getContext()),
            toEnum<tile::Space>(scope, tile::symbolizeSpace, "scope"), kind);
      },
      nb::arg("name"), nb::arg("shape"), nb::arg("dtype"), nb::arg("scope"),
      nb::arg("reducer").none() = nb::none());
  cls.def(
      "alloc_var",
      [](Trace &self, const std::string &dtype, nb::object init, const std::string &name) {
        return self.variables.alloc(name, parseDType(dtype, self.getContext()),
                                    toOptionalOperand(init, "initial value"));
      },
      nb::arg("dtype"), nb::arg("init").none() = nb::none(), nb::arg("name") = "");
  cls.def(
      "alloc_var_outside",
      [](Trace &self, unsigned depth, const std::string &dtype, nb::object init,
         const std::string &name) {
        return self.variables.allocOutside(depth, name, parseDType(dtype, self.getContext()),
                                           toOptionalOperand(init, "initial value"));
      },
      nb::arg("depth"), nb::arg("dtype"), nb::arg("init").none() = nb::none(),
      nb::arg("name") = "");
  cls.def("view", [](Trace &self, nb::object buffer, nb::object shape, const std::string &dtype) {
    return self.buffers.view(toBuffer(buffer, "'T.view'"), toShape(shape, "shape of a view"),
                             parseDType(dtype, self.getContext()));
  });
}

void bindStatements(nb::class_<Trace> &cls) {
  cls.def("copy", [](Trace &self, nb::object source, nb::object dest, nb::dict hints) {
    nb::dict rest;
    std::optional<int64_t> width;
    const Fragment *layout = nullptr;
    for (auto [key, value] : hints) {
      std::string name = nb::cast<std::string>(nb::str(key));
      if (name == "coalesced_width" && !value.is_none())
        width = nb::cast<int64_t>(value);
      else if (name == "loop_layout")
        layout = toFragment(value);
      else
        rest[key] = value;
    }
    self.statements.copy(toTile(source, "'T.copy' source"), toTile(dest, "'T.copy' destination"),
                         width, layout, toAttributes(self.getContext(), rest));
  });
  cls.def("fill", [](Trace &self, nb::object dest, nb::object value) {
    self.statements.fill(toTile(dest, "'T.fill'"), toOperand(value, "value of 'T.fill'"));
  });
  cls.def("gemm", [](Trace &self, nb::object a, nb::object b, nb::object c, bool transposeA,
                     bool transposeB, const std::string &policy, nb::object clear, int64_t kPack) {
    self.statements.gemm(toBuffer(a, "'T.gemm' A"), toBuffer(b, "'T.gemm' B"),
                         toBuffer(c, "'T.gemm' C"), transposeA, transposeB,
                         toEnum<tile::GemmPolicy>(policy, tile::symbolizeGemmPolicy, "policy"),
                         toOptionalOperand(clear, "clear_accum"), kPack);
  });
  cls.def("reduce", [](Trace &self, const std::string &kind, nb::object source, nb::object dest,
                       int64_t dim, bool clear, bool nanPropagate) {
    self.statements.reduce(toEnum<tile::ReduceKind>(kind, tile::symbolizeReduceKind, "reduction"),
                           toBuffer(source, "source of a reduction"),
                           toBuffer(dest, "output of a reduction"), dim, clear, nanPropagate);
  });
  cls.def("cumsum", [](Trace &self, nb::object source, nb::object dest, int64_t dim, bool reverse) {
    self.statements.cumsum(toBuffer(source, "'T.cumsum'"), toBuffer(dest, "'T.cumsum'"), dim,
                           reverse);
  });
  cls.def("atomic", [](Trace &self, const std::string &kind, nb::object dest, nb::object value,
                       const std::string &order, bool returnPrevious) {
    auto atomic = toEnum<tile::AtomicKind>(kind, tile::symbolizeAtomicKind, "atomic operation");
    std::string what = "'T." + tile::getLanguageName(atomic) + "'";
    std::variant<Operand, Buffer> operand = Literal::ofInt(0);
    if (nb::isinstance<Buffer>(value))
      operand = nb::cast<Buffer>(value);
    else
      operand = toOperand(value, what + " value");
    return self.statements.atomic(
        atomic, toTile(dest, what), operand,
        toEnum<tile::MemoryOrder>(order, tile::symbolizeMemoryOrder, "memory order"),
        returnPrevious);
  });
  cls.def("reducer_init", [](Trace &self, nb::object buffer) {
    self.statements.reducerInit(toBuffer(buffer, "'T.reducer_init'"));
  });
  cls.def("reducer_update", [](Trace &self, nb::object element, nb::object value) {
    if (!nb::isinstance<Element>(element))
      throw UserError("'T.reducer_update': expected an element of a reducer, as in r[i]");
    self.statements.reducerUpdate(nb::cast<Element>(element),
                                  toOperand(value, "'T.reducer_update'"));
  });
  cls.def("finalize_reducer", [](Trace &self, nb::object buffer, nb::object dest) {
    self.statements.finalizeReducer(toBuffer(buffer, "'T.finalize_reducer'"),
                                    toBuffer(dest, "'T.finalize_reducer'"));
  });
  cls.def("im2col",
          [](Trace &self, nb::object image, nb::object dest, nb::object row, nb::object column,
             int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
            self.statements.im2col(toBuffer(image, "'T.im2col'"), toBuffer(dest, "'T.im2col'"),
                                   toOperand(row, "'T.im2col'"), toOperand(column, "'T.im2col'"),
                                   kernel, stride, dilation, pad);
          });
}

void bindClusters(nb::class_<Trace> &cls) {
  cls.def("cluster_begin",
          [](Trace &self, const std::vector<int64_t> &extents) { self.clusters.begin(extents); });
  cls.def("cluster_end", [](Trace &self) { self.clusters.end(); });
  cls.def("cluster_arrive", [](Trace &self) { self.clusters.arrive(); });
  cls.def("cluster_wait", [](Trace &self) { self.clusters.wait(); });
  cls.def("copy_of_block",
          [](Trace &self, nb::object source, nb::object dest, nb::list blocks, nb::dict hints) {
            std::vector<std::pair<Scalar, Scalar>> pairs;
            for (nb::handle pair : blocks)
              pairs.emplace_back(nb::cast<Scalar>(pair[0]), nb::cast<Scalar>(pair[1]));
            self.clusters.copyOfBlock(toTile(source, "'T.copy_cluster' source"),
                                      toTile(dest, "'T.copy_cluster' destination"), pairs,
                                      toAttributes(self.getContext(), hints));
          });
  cls.def("copy_to_block", [](Trace &self, nb::object source, nb::object dest, int64_t rank) {
    self.clusters.copyToBlock(toTile(source, "'T.copy_cluster' source"),
                              toTile(dest, "'T.copy_cluster' destination"), rank);
  });
  cls.def("arrive_at_block", [](Trace &self, const Element &barrier, int64_t rank, bool once) {
    self.clusters.arriveAtBlock(barrier, rank, once);
  });
}

void bindNotes(nb::class_<Trace> &cls) {
  cls.def("annotate_layout", [](Trace &self, nb::object buffer, nb::object layout) {
    Buffer target = toBuffer(buffer, "'T.annotate_layout'");
    if (nb::isinstance<Fragment>(layout))
      self.statements.annotateLayout(target, nb::cast<Fragment>(layout));
    else if (nb::isinstance<Layout>(layout))
      self.statements.annotateLayout(target, nb::cast<Layout>(layout));
    else
      throw UserError(
          "'T.annotate_layout': expected a T.Layout, a T.Fragment or a function of indices");
  });
  cls.def("annotate_safe_value", [](Trace &self, nb::object buffer, nb::object value) {
    Operand operand = toOperand(value, "safe value");
    if (!std::holds_alternative<Literal>(operand))
      throw UserError("'T.annotate_safe_value': a safe value is a Python number");
    self.statements.annotateSafeValue(toBuffer(buffer, "'T.annotate_safe_value'"),
                                      std::get<Literal>(operand));
  });
  cls.def("use_swizzle", [](Trace &self, int64_t panelSize, const std::string &order) {
    self.statements.useSwizzle(
        panelSize, toEnum<tile::RasterOrder>(order, tile::symbolizeRasterOrder, "order"));
  });
  cls.def("hint", [](Trace &self, const std::string &name, nb::list buffers, nb::dict attributes) {
    std::vector<Buffer> targets;
    for (nb::handle buffer : buffers)
      targets.push_back(toBuffer(buffer, "'T." + name + "'"));
    self.statements.hint(name, targets, toAttributes(self.getContext(), attributes));
  });
  cls.def("assume", [](Trace &self, nb::object condition) {
    self.statements.assume(toOperand(condition, "'T.assume'"));
  });
  cls.def("assert_", [](Trace &self, nb::object condition, const std::string &message) {
    self.statements.assertThat(toOperand(condition, "assertion"), message);
  });
  cls.def(
      "print_",
      [](Trace &self, const std::string &message, nb::object value) {
        if (value.is_none())
          self.statements.print(message, std::monostate());
        else if (nb::isinstance<Buffer>(value))
          self.statements.print(message, nb::cast<Buffer>(value));
        else
          self.statements.print(message, toOperand(value, "'T.print'"));
      },
      nb::arg("message"), nb::arg("value").none() = nb::none());
}

void bindScalarOperations(nb::class_<Trace> &cls) {
  cls.def("unary", [](Trace &self, const std::string &op, nb::object x) {
    return self.arithmetic.unary(toEnum<UnaryKind>(op, symbolizeUnary, "function"),
                                 toOperand(x, "'T." + op + "'"));
  });
  cls.def("binary", [](Trace &self, const std::string &op, nb::object a, nb::object b) {
    return self.arithmetic.binary(toEnum<BinaryKind>(op, symbolizeBinary, "function"),
                                  toOperand(a, "'T." + op + "'"), toOperand(b, "'T." + op + "'"));
  });
  cls.def(
      "cast",
      [](Trace &self, nb::object x, const std::string &dtype, const std::string &rounding,
         bool saturate) {
        return self.arithmetic.cast(
            toOperand(x, "'T.cast'"), parseDType(dtype, self.getContext()),
            toEnum<tile::Rounding>(rounding, tile::symbolizeRounding, "rounding"), saturate);
      },
      nb::arg("x"), nb::arg("dtype"), nb::arg("rounding") = "nearest_even",
      nb::arg("saturate") = false);
  cls.def("bitcast", [](Trace &self, nb::object x, const std::string &dtype) {
    return self.scalars.bitcast(toOperand(x, "'T.reinterpret'"),
                                parseDType(dtype, self.getContext()));
  });
  cls.def("constant", [](Trace &self, nb::object number, const std::string &dtype) {
    Operand operand = toOperand(number, "constant");
    if (!std::holds_alternative<Literal>(operand))
      throw UserError("expected a Python number");
    return self.scalars.constant(std::get<Literal>(operand), parseDType(dtype, self.getContext()));
  });
  cls.def("named",
          [](Trace &self, const frontend::Scalar &value) { self.scalars.noteName(value); });
  cls.def("materialize", [](Trace &self, nb::object value) {
    return self.scalars.materialize(toOperand(value, "value"));
  });
  cls.def("common_dtype", [](Trace &self, nb::object a, nb::object b) {
    return getDTypeName(self.scalars.commonType(toOperand(a, "value"), toOperand(b, "value")));
  });
  cls.def("if_then_else", [](Trace &self, nb::object condition, nb::object a, nb::object b) {
    return self.conditionals.ifThenElse(toOperand(condition, "condition of 'T.if_then_else'"),
                                        toOperand(a, "'T.if_then_else'"),
                                        toOperand(b, "'T.if_then_else'"));
  });
}

} // namespace

void tilewright::bindings::bindTraces(nb::module_ &module) {
  nb::class_<Trace> cls(module, "Trace", "One prim_func under construction.");
  cls.def("__init__", [](Trace *self, const std::string &name, const std::string &file,
                         int64_t line) { new (self) Trace(name, {file, line, 1}); });
  cls.def_static(
      "current", []() -> Trace * { return Trace::currentOrNull(); }, nb::rv_policy::reference);
  cls.def("activate", &Trace::activate);
  cls.def("deactivate", &Trace::deactivate);
  cls.def("abandon", &Trace::deactivate);
  cls.def("locate", [](Trace &self, const std::string &file, int64_t line, int64_t column) {
    self.emitter.locate({file, line, column});
  });
  cls.def("push_call", [](Trace &self) { self.emitter.pushCall(); });
  cls.def("pop_call", [](Trace &self) { self.emitter.popCall(); });
  cls.def(
      "finish",
      [](Trace &self, bool fastMath) { return new driver::Executable(self.finish(fastMath)); },
      nb::rv_policy::take_ownership, nb::arg("fast_math") = false);
  bindRegions(cls);
  bindBuffers(cls);
  bindStatements(cls);
  bindClusters(cls);
  bindNotes(cls);
  bindScalarOperations(cls);
}
