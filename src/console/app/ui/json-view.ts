/** CodeMirror for JSON. Loaded on demand, not with the first page. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  ensureSyntaxTree,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { forEachDiagnostic, linter, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Time limit for parsing; in a longer text, the error is shown at the end. */
const PARSE_MS_MAX = 200;

/** Position and message of a syntax error. Lines count from 1. */
export interface JsonFault {
  readonly line: number;
  readonly message: string;
}

interface JsonViewOptions {
  readonly parent: HTMLElement;
  readonly value: string;
  readonly isReadOnly: boolean;
  /** Attributes of the text area, for screen readers. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly nonce: string;
  readonly onChange: (value: string) => void;
  readonly onFault: (fault: JsonFault | undefined) => void;
}

/** Tab moves the focus, as in any other control. */
export function openJsonView(options: JsonViewOptions): EditorView {
  const { parent, value, isReadOnly, attributes, nonce, onChange, onFault } = options;
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of(attributes),
        EditorView.lineWrapping,
        lineNumbers(),
        history(),
        bracketMatching(),
        indentOnInput(),
        json(),
        syntaxHighlighting(COLOURS),
        LOOK,
        linter(({ state: written }) => faultsOf(written)),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of(({ docChanged, startState, state }) => {
          if (docChanged) onChange(state.doc.toString());
          const fault = firstFault(state);
          if (fault?.message !== firstFault(startState)?.message || docChanged) onFault(fault);
        }),
      ],
    }),
  });
}

/** Combines the browser's message with the position of the first syntax error, since not all browsers report one. */
function faultsOf(state: EditorState): Diagnostic[] {
  const { doc } = state;
  try {
    JSON.parse(doc.toString());
    return [];
  } catch (error) {
    let from: number | undefined;
    ensureSyntaxTree(state, doc.length, PARSE_MS_MAX)?.iterate({
      enter: ({ type, from: begin }) => {
        if (type.isError) from ??= begin;
      },
    });
    const at = Math.min(from ?? doc.length, doc.length);
    return [{ from: at, to: at, severity: 'error', message: error instanceof Error ? error.message : String(error) }];
  }
}

function firstFault(state: EditorState): JsonFault | undefined {
  let fault: JsonFault | undefined;
  forEachDiagnostic(state, ({ message }, from) => {
    fault ??= { line: state.doc.lineAt(from).number, message };
  });
  return fault;
}

/** Variables of console.css, which has values for both themes. */
const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-name)' },
  { tag: tags.string, color: 'var(--json-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--json-value)' },
]);

const LOOK = EditorView.theme({
  '&': { fontSize: 'var(--mantine-font-size-sm)', backgroundColor: 'var(--mantine-color-body)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', maxHeight: '60vh' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    color: 'var(--mantine-color-dimmed)',
    backgroundColor: 'var(--mantine-color-default-hover)',
    border: 'none',
  },
  // No backgrounds: when lines are joined, browsers turn those into inline styles, which the page's policy refuses.
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid currentcolor' },
  '&.cm-focused .cm-nonmatchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--mantine-color-error)',
  },
});
