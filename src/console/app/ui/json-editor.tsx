import { Input, Skeleton, Text } from '@mantine/core';
import { useEffect, useId, useRef, useState } from 'react';
import { text } from '../messages/index.js';
import { NONCE } from '../service/nonce.js';
import type { JsonFault, openJsonView } from './json-view.js';
import { Problem } from './problem.js';

interface JsonEditorProps {
  readonly label: string;
  readonly description?: string;
  readonly isReadOnly?: boolean;
  /** Initial value; afterwards the editor owns the text and reports changes. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

type View = ReturnType<typeof openJsonView>;

/** Editor of JSON with line numbers and error positions. Its code is loaded with the first one shown. */
export function JsonEditor({ label, description, isReadOnly = false, value, onChange }: JsonEditorProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<View>(null);
  const latest = useRef({ value, onChange });
  const [isThere, setThere] = useState(false);
  const [loading, setLoading] = useState<{ readonly attempt: number; readonly error?: unknown }>({ attempt: 0 });
  const [fault, setFault] = useState<JsonFault>();
  useEffect(() => {
    latest.current = { value, onChange };
  });
  useEffect(() => {
    let isGone = false;
    import('./json-view.js').then(
      (module) => {
        if (isGone || box.current === null) return;
        view.current = module.openJsonView({
          parent: box.current,
          value: latest.current.value,
          isReadOnly,
          attributes: { 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-about ${id}-fault` },
          nonce: NONCE,
          onChange: (next) => {
            latest.current.onChange(next);
          },
          onFault: setFault,
        });
        setThere(true);
      },
      (error: unknown) => {
        if (!isGone) setLoading(({ attempt }) => ({ attempt, error }));
      },
    );
    return () => {
      isGone = true;
      view.current?.destroy();
      view.current = null;
    };
  }, [id, isReadOnly, loading.attempt]);
  return (
    <div>
      <Input.Label
        labelElement="div"
        id={`${id}-label`}
        onClick={() => {
          view.current?.focus();
        }}
      >
        {label}
      </Input.Label>
      <Input.Description id={`${id}-about`}>{description}</Input.Description>
      <div ref={box} className="json" hidden={!isThere} />
      {isThere || loading.error !== undefined ? null : <Skeleton h={160} mt={4} />}
      <Problem
        error={loading.error}
        onRetry={() => {
          setLoading(({ attempt }) => ({ attempt: attempt + 1 }));
        }}
      />
      <Text id={`${id}-fault`} size="sm" c="red" role="status" mih="1.55em">
        {fault === undefined ? '' : text.common.jsonFault(fault.line, fault.message)}
      </Text>
    </div>
  );
}
