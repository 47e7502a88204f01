import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';

interface FileLinkProps {
  /** As it stands in a record: anything. */
  readonly url: string;
  readonly children: ReactNode;
}

/** Leads to a file elsewhere. A value of a record is no link where it would be a program, or leads nowhere. */
export function FileLink({ url, children }: FileLinkProps) {
  if (!/^https?:\/\//i.test(url)) return <span style={{ overflowWrap: 'anywhere' }}>{children}</span>;
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Anchor>
  );
}
