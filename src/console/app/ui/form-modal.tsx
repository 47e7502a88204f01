import { Button, Group, Modal, Stack, type ButtonProps } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { Problem } from './problem.js';

interface FormModalProps {
  /** Title of the dialog, which says what it does and to what, such as `Create group` or `Edit sea`. */
  readonly label: string;
  /** Text of the button that opens the dialog, where its row says to what it belongs. Undefined for the label. */
  readonly short?: string | undefined;
  readonly button?: ButtonProps;
  /** Text of the button that sends the form. Undefined for the label. */
  readonly submit?: string | undefined;
  /** Name in the address while the form is open, unique on the page, such as `facet:kind` for that of a row. */
  readonly place: string;
  /** Rejects with an error, which the form shows while staying open. */
  readonly onSubmit: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A button that opens a form. The caller owns its fields, which keep their state when the form is closed. */
export function FormModal({ label, short, button, submit, place, onSubmit, children }: FormModalProps) {
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
        {...(short === undefined ? {} : { 'aria-label': label })}
        onClick={() => {
          setOpened(true);
        }}
      >
        {short ?? label}
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
                {submit ?? label}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

/** Returns the texts of a form that edits the thing with this name. */
export function editing(name: string): Pick<FormModalProps, 'label' | 'short' | 'submit'> {
  return { label: text.common.editOf(name), short: text.common.edit, submit: text.common.save };
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
