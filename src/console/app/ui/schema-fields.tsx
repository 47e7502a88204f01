import { NativeSelect, NumberInput, PasswordInput, Textarea, TextInput } from '@mantine/core';
import { text } from '../messages/index.js';
import { labelOf } from './labels.js';
import { prose } from './prose.js';

/** Schema of a member of an operation's input. */
export interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

export type Draft = Readonly<Record<string, unknown>>;

interface SchemaFieldsProps {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  /** Members shown, in this order. */
  readonly names: readonly string[];
  readonly required?: readonly string[];
  /** True if the form begins here: its dialog then opens with the focus in the first control. */
  readonly isFirst?: boolean;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/**
 * Renders a control for each member, with the texts and limits of its schema. Empty members are left out of the draft.
 */
export function SchemaFields({
  properties,
  names,
  required = [],
  isFirst = false,
  draft,
  onChange,
}: SchemaFieldsProps) {
  return names.map((name, index) => (
    <SchemaField
      key={name}
      isFirst={isFirst && index === 0}
      name={name}
      schema={properties[name] ?? {}}
      required={required.includes(name)}
      value={draft[name]}
      onChange={(value) => {
        const { [name]: _, ...others } = draft;
        onChange(value === undefined ? others : { ...others, [name]: value });
      }}
    />
  ));
}

interface SchemaFieldProps {
  readonly isFirst: boolean;
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function SchemaField({ isFirst, name, schema, required, value, onChange }: SchemaFieldProps) {
  const { type, enum: choices, minimum, maximum, maxLength, pattern, examples } = ofValue(schema);
  const common = {
    label: labelOf(name),
    description: prose(describedAlone(schema.description)),
    required,
    'data-autofocus': isFirst || undefined,
  } as const;
  if (choices !== undefined || type === 'boolean') {
    const given = choices?.map((choice) => ({ value: choice, label: CHOICES[choice] ?? choice })) ?? YES_OR_NO;
    return (
      <NativeSelect
        {...common}
        data={required ? given : [{ value: '', label: text.common.byDefault }, ...given]}
        value={typeof value === 'string' || typeof value === 'boolean' ? String(value) : ''}
        onChange={({ currentTarget: { value: chosen } }) => {
          onChange(chosen === '' ? undefined : type === 'boolean' ? chosen === 'true' : chosen);
        }}
      />
    );
  }
  if (type === 'integer' || type === 'number') {
    return (
      <NumberInput
        {...common}
        {...(minimum === undefined ? {} : { min: minimum })}
        {...(maximum === undefined ? {} : { max: maximum })}
        allowDecimal={type === 'number'}
        value={typeof value === 'number' ? value : ''}
        onChange={(entry) => {
          onChange(typeof entry === 'number' ? entry : undefined);
        }}
      />
    );
  }
  if (type === 'array') return <LinesField {...{ isFirst, name, schema, required, value, onChange }} />;
  const textual = {
    ...common,
    maxLength,
    value: typeof value === 'string' ? value : '',
    onChange: ({ currentTarget: { value: entry } }: { readonly currentTarget: { readonly value: string } }) => {
      onChange(entry === '' ? undefined : entry);
    },
  };
  if (name.includes('secret')) {
    const toggle = { 'aria-label': text.signIn.showPassword, 'aria-hidden': false, tabIndex: 0 } as const;
    return <PasswordInput {...textual} autoComplete="off" visibilityToggleButtonProps={toggle} />;
  }
  return <TextInput {...textual} pattern={pattern} placeholder={textOf(examples?.[0])} />;
}

/**
 * Removes the kind from a description, since the form shows only controls of its kind: `For the kind `s3`: the server`
 * → `The server`.
 */
function describedAlone(description: string | undefined): string | undefined {
  const alone = description?.replace(/^(?:Of|For) (?:the kind )?`[^`]+`(?:(?:,| and|, and) `[^`]+`)*(?:[:;,] ?|$)/, '');
  return alone === undefined || alone === '' ? undefined : `${alone.charAt(0).toUpperCase()}${alone.slice(1)}`;
}

/** Several texts, one per line. */
function LinesField({ isFirst, name, schema, required, value, onChange }: SchemaFieldProps) {
  return (
    <Textarea
      label={labelOf(name)}
      description={prose([schema.description, text.common.oneALine].filter(Boolean).join('. '))}
      required={required}
      data-autofocus={isFirst || undefined}
      autosize
      minRows={2}
      maxRows={8}
      value={Array.isArray(value) ? value.join('\n') : ''}
      onChange={({ currentTarget: { value: entry } }) => {
        onChange(entry === '' ? undefined : entry.split('\n'));
      }}
    />
  );
}

/** Values without a label are shown as they are. */
const CHOICES: Readonly<Record<string, string>> = text.choices;

const YES_OR_NO = [
  { value: 'true', label: text.common.yes },
  { value: 'false', label: text.common.no },
];

/** Returns the schema without null, which is expressed by leaving the control empty. */
function ofValue(schema: FieldSchema): FieldSchema {
  return schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
}

function textOf(example: unknown): string | undefined {
  return typeof example === 'string' ? example : undefined;
}

/** Returns the draft without blank lines. */
export function withoutBlankLines(draft: Draft): Draft {
  const clean = ([name, value]: readonly [string, unknown]): [string, unknown] => [
    name,
    Array.isArray(value) ? value.map((line) => String(line).trim()).filter((line) => line !== '') : value,
  ];
  return Object.fromEntries(Object.entries(draft).map(clean));
}
