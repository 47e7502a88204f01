/**
 * Writes `config/grafana-dashboard.json`, a dashboard of the service's metrics for Grafana 10 and later:
 *
 *   node scripts/grafana-dashboard.mjs
 *
 * `grafana-dashboard.test.mjs` compares the file with these rows, and `test/api/service-manager.test.ts` compares its metrics with those of a
 * service.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../config/grafana-dashboard.json');
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const OF_INSTANCE = 'instance=~"$instance"';
const COLUMNS = 24;
const [PANEL_WIDTH, PANEL_HEIGHT] = [8, 8];

const rate = (metric, by, filter = '') =>
  `sum by (${['instance', ...by].join(', ')}) (rate(${metric}{${OF_INSTANCE}${filter}}[$__rate_interval]))`;
const quantile = (share, metric, by, filter = '') =>
  `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (rate(${metric}_bucket{${OF_INSTANCE}${filter}}[$__rate_interval])))`;
const gauge = (metric, filter = '') => `${metric}{${OF_INSTANCE}${filter}}`;

const SEARCHES = ', operation=~"search.*"';

/**
 * Rows of the dashboard. A chart has a title, a unit of Grafana, and queries, each with its legend.
 *
 * @typedef {[title: string, unit: string, queries: string[][]]} Chart
 * @type {{ title: string, charts: Chart[] }[]}
 */
const ROWS = [
  {
    title: 'Requests',
    charts: [
      ['Requests by status', 'reqps', [[rate('gannet_http_requests_total', ['status']), '{{status}}']]],
      [
        'Requests by operation',
        'reqps',
        [[`topk(10, ${rate('gannet_http_requests_total', ['operation'])})`, '{{operation}}']],
      ],
      [
        'Latency of searches',
        's',
        [0.5, 0.95, 0.99].map((share) => [
          quantile(share, 'gannet_http_request_seconds', [], SEARCHES),
          `p${share * 100}`,
        ]),
      ],
      [
        'Slowest operations (p99)',
        's',
        [[`topk(10, ${quantile(0.99, 'gannet_http_request_seconds', ['operation'])})`, '{{operation}}']],
      ],
      [
        'In flight, and left by their clients',
        'short',
        [
          [gauge('gannet_http_requests_in_flight'), 'in flight'],
          [rate('gannet_http_requests_aborted_total', []), 'left, a second'],
        ],
      ],
      ['Front-end thread', 'percentunit', [[rate('gannet_front_end_busy_seconds_total', []), 'busy']]],
    ],
  },
  {
    title: 'Searches',
    charts: [
      [
        'Searches',
        'reqps',
        [
          [rate('gannet_searches_total', []), 'ran'],
          [rate('gannet_search_cache_hits_total', []), 'answered from the cache'],
          [rate('gannet_searches_moved_total', []), 'ran again as expensive ones'],
        ],
      ],
      [
        'Time of a search in its worker',
        's',
        [0.5, 0.99].map((share) => [quantile(share, 'gannet_search_worker_seconds', []), `p${share * 100}`]),
      ],
      ['Searches without an answer', 'reqps', [[rate('gannet_searches_unfinished_total', ['reason']), '{{reason}}']]],
      ['Tasks that wait for a worker', 'short', [[gauge('gannet_pool_tasks_waiting'), '{{pool}}']]],
      ['Tasks refused', 'reqps', [[rate('gannet_pool_tasks_refused_total', ['pool']), '{{pool}}']]],
      [
        'Open lists',
        'short',
        [
          [gauge('gannet_lists_open'), 'open'],
          [gauge('gannet_lists_rebuilding'), 'being rebuilt'],
          [rate('gannet_list_openings_total', []), 'opened, a second'],
        ],
      ],
    ],
  },
  {
    title: 'Writes',
    charts: [
      ['Records written', 'wps', [[rate('gannet_records_written_total', ['outcome']), '{{outcome}}']]],
      ['Time of a commit (p99)', 's', [[quantile(0.99, 'gannet_ingest_task_seconds', ['kind']), '{{kind}}']]],
      ['Segments', 'short', [[gauge('gannet_list_segments'), 'segments of open lists']]],
      [
        'Records without vectors',
        'short',
        [
          [gauge('gannet_records_embedding_pending'), 'pending'],
          [gauge('gannet_records_embedding_failed'), 'failed'],
        ],
      ],
      [
        'Feeds',
        'short',
        [[`sum by (outcome) (increase(gannet_feed_runs_total{${OF_INSTANCE}}[1h]))`, '{{outcome}}, in an hour']],
      ],
      [
        'Webhook deliveries',
        'short',
        [
          [gauge('gannet_webhook_deliveries_queued'), 'queued'],
          [rate('gannet_webhook_attempts_total', ['outcome']), '{{outcome}}, a second'],
        ],
      ],
    ],
  },
  {
    title: 'Machine',
    charts: [
      [
        'Memory',
        'bytes',
        [
          [gauge('gannet_memory_own_bytes'), 'own'],
          [gauge('gannet_memory_budget_bytes'), 'memory.mib'],
          [gauge('process_resident_memory_bytes'), 'resident, with mapped files'],
          [gauge('gannet_search_cache_bytes'), 'search cache'],
        ],
      ],
      [
        'Processors',
        'short',
        [
          [rate('process_cpu_user_seconds_total', []), 'user'],
          [rate('process_cpu_system_seconds_total', []), 'system'],
        ],
      ],
      [
        'Disk',
        'bytes',
        [
          [gauge('gannet_disk_free_bytes'), 'free'],
          [gauge('gannet_disk_size_bytes'), 'size'],
        ],
      ],
      [
        'Open files',
        'short',
        [
          [gauge('process_open_fds'), 'open'],
          [gauge('process_max_fds'), 'limit'],
        ],
      ],
      [
        'Hours since the last backup',
        'h',
        [[`(time() - (${gauge('gannet_backup_last_success_timestamp_seconds')} > 0)) / 3600`, 'hours']],
      ],
      [
        'Lost',
        'short',
        [
          [`increase(gannet_log_lines_dropped_total{${OF_INSTANCE}}[1h])`, 'lines of the log, in an hour'],
          [`increase(gannet_analytics_events_dropped_total{${OF_INSTANCE}}[1h])`, 'searches not counted, in an hour'],
          [`increase(gannet_worker_deaths_total{${OF_INSTANCE}}[1h])`, 'workers that died, in an hour ({{pool}})'],
        ],
      ],
    ],
  },
];

export function dashboard() {
  const panels = [];
  let y = 0;
  for (const { title, charts } of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, chart] of charts.entries()) {
      const x = (index * PANEL_WIDTH) % COLUMNS;
      if (index > 0 && x === 0) y += PANEL_HEIGHT;
      panels.push(panelOf(panels.length + 1, { x, y, w: PANEL_WIDTH, h: PANEL_HEIGHT }, chart));
    }
    y += PANEL_HEIGHT;
  }
  return {
    uid: 'gannet',
    title: 'Gannet',
    tags: ['gannet'],
    editable: true,
    schemaVersion: 39,
    version: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: [datasourceVariable(), instanceVariable()] },
    annotations: { list: [restarts()] },
    panels,
  };
}

function panelOf(id, gridPos, [title, unit, queries]) {
  return {
    id,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCodePoint('A'.codePointAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

function datasourceVariable() {
  return { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', refresh: 1 };
}

function instanceVariable() {
  return {
    name: 'instance',
    label: 'Service',
    type: 'query',
    datasource: DATASOURCE,
    query: { query: 'label_values(gannet_build_info, instance)', refId: 'instance' },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.+',
    current: { text: 'All', value: '$__all' },
  };
}

function restarts() {
  return {
    name: 'Starts of the service',
    enable: true,
    iconColor: 'blue',
    datasource: DATASOURCE,
    expr: `changes(process_start_time_seconds{${OF_INSTANCE}}[$__interval]) > 0`,
    titleFormat: 'Started',
  };
}

if (process.argv[1] === import.meta.filename) writeFileSync(FILE, `${JSON.stringify(dashboard(), undefined, 2)}\n`);
