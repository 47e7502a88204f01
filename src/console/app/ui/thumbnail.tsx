import { Box, Image } from '@mantine/core';

const SIZE = { w: 140, h: 100 } as const;

interface ThumbnailProps {
  /** Undefined reserves the space until it is known. */
  readonly src: string | undefined;
  readonly alt: string;
}

/** A small picture in a space of fixed size. */
export function Thumbnail({ src, alt }: ThumbnailProps) {
  if (src === undefined) return <Box {...SIZE} className="thumbnail" />;
  return <Image {...SIZE} src={src} alt={alt} loading="lazy" fit="contain" radius="sm" className="thumbnail" />;
}
