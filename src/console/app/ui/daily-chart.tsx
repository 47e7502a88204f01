import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { text } from '../messages/index.js';
import type { AnalyticsListOutput } from '../service/client.js';
import { Problem } from './problem.js';

const HEIGHT = 200;

/** Chart of searches per day, and those without results. Only visual: screen readers have the same data in a table. */
export function DailyChart({ daily }: Pick<AnalyticsListOutput, 'daily'>) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let isGone = false;
    let close: (() => void) | undefined;
    import('./daily-plot.js').then(({ openDailyPlot }) => {
      const parent = box.current;
      if (isGone || parent === null) return;
      const plot = openDailyPlot({
        parent,
        days: daily.map(({ date, searches, zero_result_searches }) => ({
          date,
          all: searches,
          some: zero_result_searches,
        })),
        height: HEIGHT,
        names: [text.analytics.date, text.analytics.searches, text.analytics.nothing],
      });
      const sizes = new ResizeObserver(() => {
        plot.setSize({ width: parent.clientWidth, height: HEIGHT });
      });
      sizes.observe(parent);
      close = () => {
        sizes.disconnect();
        plot.destroy();
      };
    }, setError);
    return () => {
      isGone = true;
      close?.();
    };
    // Redrawn when the theme changes, for its colours.
  }, [daily, scheme]);
  return (
    <>
      <div ref={box} className="chart" role="img" aria-label={text.analytics.chart} />
      <Problem error={error} />
    </>
  );
}
