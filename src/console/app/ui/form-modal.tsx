import { Button, Group, Modal, Stack, type ButtonProps } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { Problem } from './problem.js';

interface FormModalProps {
  readonly label: string;
  readonly button?: ButtonProps & { readonly 'aria-label'?: string };
  readonly submit?: string;
  /** Name in the address while the form is open, unique on the page, such as `facet:kind` for that of a row. */
  readonly place: string;
  /** Rejects with an error, which the form shows while staying open. */
  readonly onSubmit: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A button that opens a form. The caller owns its fields, which keep their state when the form is closed. */
export function FormModal({ label, button, submit, place, onSubmit, children }: FormModalProps) {
  const [opened, setOpened] = useFormPlace(place);
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: unknown }>({ busy: false, error: null });
  const close = (): void => {
    setOpened(false);
    setState({ busy: false, error: null });
  };
  const send = async (): Promise<void> => {
    setState({ busy: true, error: null });
    try {
      await onSubmit();
      close();
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return (
    <>
      <Button
        size="xs"
        {...button}
        onClick={() => {
          setOpened(true);
        }}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={label} closeButtonProps={{ 'aria-label': text.common.close }}>
        <form
          aria-label={label}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <Stack>
            {children}
            <Problem error={state.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {text.common.cancel}
              </Button>
              <Button type="submit" loading={state.busy}>
                {submit ?? text.common.save}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

/** Whether the form is open, stored in the address, so that it survives a reload and is closed by Back. */
export function useFormPlace(place: string): readonly [boolean, (isOpen: boolean) => void] {
  const { form } = useSearch({ strict: false });
  const navigate = useNavigate();
  const open = (wanted: boolean): void => {
    const search = ({ form: _, ...others }: { readonly form?: string }) =>
      wanted ? { ...others, form: place } : others;
    // Back leads from an open form to its page, but never reopens a closed form.
    void navigate({ to: '.', search: search as never, resetScroll: false, replace: !wanted });
  };
  return [form === place, open];
}
