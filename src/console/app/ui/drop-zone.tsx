import { Box, Button } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';

interface DropZoneProps {
  /** What the button says. */
  readonly label: string;
  /** What is offered, as the browser takes it; whatever is dropped is taken. */
  readonly accept: string;
  readonly isCompact?: boolean;
  readonly onFile: (file: File) => void;
  /** Above the button. */
  readonly children: ReactNode;
}

/** Where a file is dropped, and a button for who would rather choose one. */
export function DropZone({ label, accept, isCompact = false, onFile, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null): void => {
    const file = files?.item(0);
    if (file !== null && file !== undefined) onFile(file);
  };
  return (
    <Box
      className={isCompact ? 'drop compact' : 'drop'}
      {...(isOver ? { 'data-over': true } : {})}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      {children}
      <Button {...(isCompact ? { size: 'xs', variant: 'default' } : {})} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        aria-label={label}
        onChange={(event) => {
          take(event.currentTarget.files);
          // The same file can be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </Box>
  );
}
