import { Box, Button } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';

interface DropZoneProps {
  /** Label of the button. */
  readonly label: string;
  /** Types offered in the file dialog; dropped files of any type are accepted. */
  readonly accept: string;
  readonly isCompact?: boolean;
  readonly onFile: (file: File) => void;
  /** Shown above the button. */
  readonly children: ReactNode;
}

/** Area for dropping a file, with a button to choose one. */
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
          // Allows choosing the same file again.
          event.currentTarget.value = '';
        }}
      />
    </Box>
  );
}
