"""Writes EfficientNet-Lite0 as an ONNX graph: python efficientnet.py WEIGHTS.pth MODEL.onnx

The weights are a pickle of torch's first format, of which nothing but numbers is taken: a header of three pickles, the names with the shape and
the storage of each tensor, the keys of the storages, and then each storage as its length and its numbers. Normalisation is folded into the
convolutions. The graph takes pixel_values (batch, 3, 224, 224) and gives image_embeds (batch, 1280), the mean of what the last of them gives.
"""

import collections
import pickle
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 224
DIMENSIONS = 1280
BLOCKS = 16
HALVING = (1, 3, 5, 11)
EPSILON = 1e-3


class NumbersOnly(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        if module == "torch" and name in ("FloatStorage", "LongStorage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is not taken")

    def persistent_load(self, pid):
        return pid


def read_weights(path):
    with open(path, "rb") as file:
        for _ in range(3):
            NumbersOnly(file).load()
        tensors = NumbersOnly(file).load()
        keys = NumbersOnly(file).load()
        kinds = {storage[2]: storage[1] for storage, *_ in tensors.values()}
        storages = {}
        for key in keys:
            (count,) = struct.unpack("<q", file.read(8))
            kind = np.dtype("<f4" if kinds[key] == "FloatStorage" else "<i8")
            storages[key] = np.frombuffer(file.read(count * kind.itemsize), kind)
    weights = {}
    for name, (storage, offset, shape, strides) in tensors.items():
        values = storages[storage[2]][offset:]
        steps = [stride * values.itemsize for stride in strides]
        weights[name] = np.ascontiguousarray(np.lib.stride_tricks.as_strided(values, shape, steps))
    return weights


class Graph:
    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.tables = [numpy_helper.from_array(np.float32(limit), name) for name, limit in (("least", 0), ("most", 6))]

    def convolution(self, source, conv, norm, stride=1, is_activated=True):
        weight = self.weights[f"{conv}.weight"]
        scale = self.weights[f"{norm}.weight"] / np.sqrt(self.weights[f"{norm}.running_var"] + EPSILON)
        bias = self.weights[f"{norm}.bias"] - self.weights[f"{norm}.running_mean"] * scale
        self.tables.append(numpy_helper.from_array(weight * scale[:, None, None, None], f"{conv}.weight"))
        self.tables.append(numpy_helper.from_array(bias, f"{conv}.bias"))
        groups = weight.shape[0] if weight.shape[1] == 1 else 1
        self.nodes.append(
            helper.make_node(
                "Conv",
                [source, f"{conv}.weight", f"{conv}.bias"],
                [conv],
                kernel_shape=weight.shape[2:],
                strides=[stride, stride],
                group=groups,
                auto_pad="SAME_UPPER",
            )
        )
        if not is_activated:
            return conv
        self.nodes.append(helper.make_node("Clip", [conv, "least", "most"], [f"{conv}.active"]))
        return f"{conv}.active"

    def block(self, source, number):
        name = f"_blocks.{number}"
        values = source
        if f"{name}._expand_conv.weight" in self.weights:
            values = self.convolution(values, f"{name}._expand_conv", f"{name}._bn0")
        stride = 2 if number in HALVING else 1
        values = self.convolution(values, f"{name}._depthwise_conv", f"{name}._bn1", stride)
        values = self.convolution(values, f"{name}._project_conv", f"{name}._bn2", is_activated=False)
        if stride == 2 or not self.keeps_channels(number):
            return values
        self.nodes.append(helper.make_node("Add", [values, source], [f"{name}.sum"]))
        return f"{name}.sum"

    def keeps_channels(self, number):
        expanded = self.weights.get(f"_blocks.{number}._expand_conv.weight")
        return expanded is not None and expanded.shape[1] == self.weights[f"_blocks.{number}._project_conv.weight"].shape[0]


def main(weights_path, model_path):
    graph = Graph(read_weights(weights_path))
    values = graph.convolution("pixel_values", "_conv_stem", "_bn0", 2)
    for number in range(BLOCKS):
        values = graph.block(values, number)
    values = graph.convolution(values, "_conv_head", "_bn1")
    graph.nodes.append(helper.make_node("ReduceMean", [values], ["image_embeds"], axes=[2, 3], keepdims=0))
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "efficientnet-lite0",
            [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])],
            [helper.make_tensor_value_info("image_embeds", TensorProto.FLOAT, ["batch", DIMENSIONS])],
            graph.tables,
        ),
        opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8,
    )
    onnx.checker.check_model(model)
    onnx.save(model, model_path)


main(*sys.argv[1:])
