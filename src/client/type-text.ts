/** Converts a JSON schema into a TypeScript type. */

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(text);
}

/** Returns the type of values that match `schema`; `unknown` if it does not state a type. */
export function typeText(schema: object): string {
  const { type, properties, items, const: constant, enum: values, ...rest } = schema as Schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (values !== undefined) return union(values.map((value) => JSON.stringify(value)));
  const choices = rest.anyOf ?? rest.oneOf;
  if (choices !== undefined) return union(choices.map(typeText));
  if (rest.allOf !== undefined) return rest.allOf.map((part) => `(${typeText(part)})`).join(' & ');
  if (Array.isArray(type)) return union(type.map((each: string) => typeText({ ...schema, type: each })));
  if (type === 'array') return `readonly (${items === undefined ? 'unknown' : typeText(items)})[]`;
  if (type === 'object' || properties !== undefined) return objectText(schema);
  return PRIMITIVES[String(type)] ?? 'unknown';
}

function objectText({ properties = {}, required = [], additionalProperties, patternProperties }: Schema): string {
  const members = Object.entries(properties).map(([name, member]) => {
    const optional = required.includes(name) ? '' : '?';
    const type = typeText(member);
    return `readonly ${isIdentifier(name) ? name : JSON.stringify(name)}${optional}: ${type}${optional === '' ? '' : ' | undefined'}`;
  });
  const others = [
    ...Object.values(patternProperties ?? {}),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  if (members.length > 0 && others.length === 0) return `{ ${members.join('; ')} }`;
  const record = `Readonly<Record<string, ${others.length === 0 ? 'unknown' : union(others.map(typeText))}>>`;
  return members.length === 0 ? record : `{ ${members.join('; ')} } & ${record}`;
}

function union(types: readonly string[]): string {
  return types.length === 0
    ? 'never'
    : [...new Set(types)].map((type) => (type.includes('&') ? `(${type})` : type)).join(' | ');
}
