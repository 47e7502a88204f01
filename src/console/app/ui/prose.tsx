/** Renders descriptions of the API, with text in backticks as code. */
import { Code } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

/** Undefined for undefined. */
export function prose(text: string | undefined): ReactNode {
  return text?.split('`').map((part, index) => {
    const isCode = index % 2 === 1;
    return isCode ? <Code key={index}>{part}</Code> : <Fragment key={index}>{part}</Fragment>;
  });
}
