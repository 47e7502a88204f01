import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { mediaRead, targetOf } from '../service/client.js';
import { mediaPlaceOf } from '../service/media-place.js';
import { useAccount, useMay } from '../service/session.js';

interface FileLinkProps {
  /** As it stands in a record: anything. */
  readonly url: string;
  /** Where in the file, as browsers understand it: `page=2`, `t=83`. */
  readonly fragment?: string;
  readonly children: ReactNode;
}

/** Leads to a file elsewhere, or to one of the account's media stores. A value of a record is no link where it would be a program, or leads nowhere. */
export function FileLink({ url, fragment, children }: FileLinkProps) {
  const account = useAccount();
  const may = useMay();
  const place = may(mediaRead) ? mediaPlaceOf(url) : undefined;
  const address = place === undefined ? webAddress(url) : targetOf(mediaRead.route, { params: { account, ...place } });
  if (address === undefined) return <span style={{ overflowWrap: 'anywhere' }}>{children}</span>;
  return (
    <Anchor
      href={fragment === undefined ? address : `${address.split('#', 1)[0] ?? ''}#${fragment}`}
      target="_blank"
      rel="noopener noreferrer"
      style={{ overflowWrap: 'anywhere' }}
    >
      {children}
    </Anchor>
  );
}

function webAddress(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined;
}
