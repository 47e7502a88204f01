/** Texts of the interface's document, where what stands between backticks is written as it is meant for programs. */
import { Code } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

/** Undefined for no text. */
export function prose(text: string | undefined): ReactNode {
  return text?.split('`').map((part, index) => {
    const isCode = index % 2 === 1;
    return isCode ? <Code key={index}>{part}</Code> : <Fragment key={index}>{part}</Fragment>;
  });
}
