import { Button, Group, Modal, Stack, type ButtonProps } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { Problem } from './problem.js';

interface FormModalProps {
  readonly label: string;
  readonly button?: ButtonProps & { readonly 'aria-label'?: string };
  readonly submit?: string;
  /** What stands for it in the address while it is open: one for each of its kind on the page, such as `facet:kind` for that of a row. */
  readonly place: string;
  /** Rejects with what went wrong; the form stays open with it. */
  readonly onSubmit: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A button that opens a form. Its fields are those of whoever uses it, and are as they were left when it is opened again. */
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

/** Whether it is open: by the address, so that it stays open when the page is loaded again, and closes by Back. */
export function useFormPlace(place: string): readonly [boolean, (isOpen: boolean) => void] {
  const { form } = useSearch({ strict: false });
  const navigate = useNavigate();
  const open = (wanted: boolean): void => {
    const search = ({ form: _, ...others }: { readonly form?: string }) =>
      wanted ? { ...others, form: place } : others;
    // Back leads from an open form to its page, and never to a form that was closed.
    void navigate({ to: '.', search: search as never, resetScroll: false, replace: !wanted });
  };
  return [form === place, open];
}
