import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { mediaRead, targetOf } from '../service/client.js';
import { mediaPlaceOf } from '../service/media-place.js';
import { useAccount, useMay } from '../service/session.js';

interface FileLinkProps {
  /** Value of a record, which may be anything. */
  readonly url: string;
  /** Place in the file, as browsers understand it: `page=2`, `t=83`. */
  readonly fragment?: string;
  readonly children: ReactNode;
}

/**
 * Link to a file on the web or in a media store of the account. Shows mere text for a value that would run a script or
 * leads nowhere.
 */
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
