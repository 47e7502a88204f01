/** Writes ONNX graphs byte by byte (https://onnx.ai/onnx/intro/concepts.html, onnx.proto). */

export type Field = readonly [number: number, value: number | string | Uint8Array];

const VARINT = 0;
const BYTES = 2;
export const FLOAT = 1;
export const INT64 = 7;
export const ATTRIBUTE_INT = 2;
export const ATTRIBUTE_INTS = 7;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}

export function message(...fields: readonly Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === 'number') return Buffer.from([...varint((number << 3) | VARINT), ...varint(value)]);
    const bytes = Buffer.from(value);
    return Buffer.concat([Buffer.from([...varint((number << 3) | BYTES), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

export function node(type: string, inputs: readonly string[], output: string, attributes: readonly Uint8Array[] = []) {
  const named = (number: number) => (name: string) => [number, name] as const;
  const others = attributes.map((attribute) => [5, attribute] as const);
  return message(...inputs.map(named(1)), named(2)(output), [3, output], [4, type], ...others);
}

export function table(name: string, rows: readonly Float32Array[]): Uint8Array {
  const width = rows[0]?.length ?? 0;
  const values = Float32Array.from(rows.flatMap((row) => [...row]));
  return message([1, rows.length], [1, width], [2, FLOAT], [8, name], [9, new Uint8Array(values.buffer)]);
}

export function tensor(name: string, type: number, shape: readonly (number | string)[]): Uint8Array {
  const dimensions = shape.map((size) => [1, message(typeof size === 'number' ? [1, size] : [2, size])] as const);
  return message([1, name], [2, message([1, message([1, type], [2, message(...dimensions)])])]);
}

export interface GraphParts {
  readonly nodes: readonly Uint8Array[];
  readonly tables: readonly Uint8Array[];
  readonly inputs: readonly Uint8Array[];
  readonly output: Uint8Array;
}

/** Uses opset 13, whose operators take their axes as attributes. */
export function onnxModel({ nodes, tables, inputs, output }: GraphParts): Uint8Array {
  const content = message(
    ...nodes.map((each) => [1, each] as const),
    [2, 'test'],
    ...tables.map((each) => [5, each] as const),
    ...inputs.map((each) => [11, each] as const),
    [12, output],
  );
  return message([1, 8], [7, content], [8, message([1, ''], [2, 13])]);
}
