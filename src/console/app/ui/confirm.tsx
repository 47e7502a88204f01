import { Button, Group, Modal, Stack, Text, TextInput, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { Problem } from './problem.js';

interface ConfirmProps {
  readonly label: string;
  /** Describes what will be lost. */
  readonly question: ReactNode;
  /** Text that has to be typed first. Undefined if none. */
  readonly typed?: string;
  /** Label of the confirming button, if it differs from `label`. Undefined while it is unknown what will be lost. */
  readonly answer?: string | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly button?: ButtonProps & { readonly 'aria-label'?: string };
}

/** Button for an action that cannot be undone: asks first, and shows the error if it fails. */
export function ConfirmButton({ label, question, typed, onConfirm, button, ...given }: ConfirmProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const [entry, setEntry] = useState('');
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: unknown }>({ busy: false, error: null });
  const answer = 'answer' in given ? given.answer : label;
  const confirm = (): void => {
    setState({ busy: true, error: null });
    onConfirm().then(
      () => {
        setState({ busy: false, error: null });
        close();
      },
      (error: unknown) => {
        setState({ busy: false, error });
      },
    );
  };
  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={label} closeButtonProps={{ 'aria-label': text.common.close }}>
        <Stack>
          <Text component="div">{question}</Text>
          {typed === undefined ? null : (
            <TextInput
              label={text.common.typeToConfirm(typed)}
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
