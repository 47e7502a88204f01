import { Button, Group, Modal, Stack, Text, TextInput, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { Problem } from './problem.js';

interface ConfirmProps {
  readonly label: string;
  /** What will be gone. */
  readonly question: ReactNode;
  /** What has to be typed first; undefined: nothing. */
  readonly typed?: string;
  /** What the button that does it says where that is more than `label`; undefined while it is not known what will be gone. */
  readonly answer?: string | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly button?: ButtonProps & { readonly 'aria-label'?: string };
}

/** A button for what cannot be undone: it asks first, and stays open with the reason where it fails. */
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
