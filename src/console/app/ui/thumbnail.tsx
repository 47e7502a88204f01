import { Box, Image } from '@mantine/core';

const SIZE = { w: 140, h: 100 } as const;

interface ThumbnailProps {
  /** Undefined: its place until it is known. */
  readonly src: string | undefined;
  readonly alt: string;
}

/** A picture as small as it says what it is; its place does not change when it comes. */
export function Thumbnail({ src, alt }: ThumbnailProps) {
  if (src === undefined) return <Box {...SIZE} className="thumbnail" />;
  return <Image {...SIZE} src={src} alt={alt} loading="lazy" fit="contain" radius="sm" className="thumbnail" />;
}
