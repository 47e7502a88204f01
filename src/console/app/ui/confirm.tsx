import { Button, Group, Modal, Stack, Text, TextInput, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { returnFocus } from './focus.js';
import { Problem } from './problem.js';

interface ConfirmProps {
  /** Title of the dialog, which says what is done to what kind of thing, such as `Delete group`. */
  readonly label: string;
  /** Text of the button that opens the dialog, where its row says to what it belongs. Undefined for the label. */
  readonly short?: string;
  /** Names the thing, and says what is lost or kept. */
  readonly question: ReactNode;
  /** Text that has to be typed first. Undefined if none. */
  readonly typed?: string;
  /** Label of the confirming button, if it differs from `label`. Undefined while it is unknown what will be lost. */
  readonly answer?: string | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly button?: ButtonProps & { readonly 'aria-label'?: string };
}

/** Scrolled box of a table, which takes the focus. */
const TABLE = '.wide';

/** Button for an action that cannot be undone: asks first, and shows the error if it fails. */
export function ConfirmButton({ label, short, question, typed, onConfirm, button, ...given }: ConfirmProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const [entry, setEntry] = useState('');
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: unknown }>({ busy: false, error: null });
  const opener = useRef<HTMLButtonElement>(null);
  const hasConfirmed = useRef(false);
  useEffect(() => {
    // The row of the thing goes with it, and this button as well: the focus stays in the table.
    const table = opener.current?.closest(TABLE) ?? null;
    return () => {
      if (hasConfirmed.current) returnFocus(table);
    };
  }, []);
  const answer = 'answer' in given ? given.answer : label;
  const confirm = (): void => {
    // The row may go before its deletion is reported, while the page reads what is left.
    hasConfirmed.current = true;
    setState({ busy: true, error: null });
    onConfirm().then(
      () => {
        setState({ busy: false, error: null });
        close();
      },
      (error: unknown) => {
        hasConfirmed.current = false;
        setState({ busy: false, error });
      },
    );
  };
  return (
    <>
      <Button ref={opener} variant="default" size="xs" {...button} onClick={open}>
        {short ?? label}
      </Button>
      <Modal opened={opened} onClose={close} title={label} closeButtonProps={{ 'aria-label': text.common.close }}>
        <Stack>
          <Text component="div">{question}</Text>
          {typed === undefined ? null : (
            <TextInput
              label={text.common.typeToConfirm(typed)}
              data-autofocus
              value={entry}
              onChange={(event) => {
                setEntry(event.currentTarget.value);
              }}
            />
          )}
          <Problem error={state.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {text.common.cancel}
            </Button>
            <Button
              color="red"
              loading={state.busy}
              disabled={(typed !== undefined && entry !== typed) || answer === undefined}
              onClick={confirm}
            >
              {answer ?? label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
