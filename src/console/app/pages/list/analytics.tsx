import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { analyticsList } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { firstDay, Report } from '../../ui/report.js';
import { useListParams } from './list-frame.js';

const DAYS = 30;

export function ListAnalytics() {
  const params = useListParams();
  const { days = DAYS } = useSearch({ from: '/$account/list/$list/analytics' });
  const navigate = useNavigate();
  const { data } = useSuspenseQuery(reading(analyticsList, { params, query: { from: firstDay(days) } }));
  return (
    <Report
      report={data}
      days={days}
      list={params}
      onDays={(chosen) => void navigate({ to: '/$account/list/$list/analytics', params, search: { days: chosen } })}
    />
  );
}
