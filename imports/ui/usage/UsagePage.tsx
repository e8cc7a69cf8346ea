/** Cost, tokens, requests, errors and times over a period, by model, provider, user, token, team or tool. */
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { USAGE_GROUPS } from '../../business/usage/domain/UsageReports';
import type { UsageGroup, UsageReport } from '../../business/usage/domain/UsageReports';
import type { Option } from '../components/form/fields';
import { useLastReady } from '../components/list/useLastReady';
import { PageTitle } from '../components/PageTitle';
import { useNow } from '../components/useNow';
import { WhenLoaded } from '../components/WhenLoaded';
import type { Loaded } from '../data/DashboardData';
import type { ArgumentOf } from '../data/operations';
import { useData } from '../hooks/BolideProvider';
import { useUserNames } from '../hooks/useUserNames';
import { replaceQuery } from '../shell/route';
import type { Route } from '../shell/route';
import { MODEL_MEASURES, TOOL_MEASURES } from './measures';
import { UnknownCosts } from './UnknownCosts';
import { customPeriod, lastHours, RANGES, toIsoDate } from './usagePeriod';
import type { Period } from './usagePeriod';
import { UsageCharts } from './UsageCharts';
import { UsageTotals } from './UsageTotals';

const GROUP_LABELS = {
  model: 'Model',
  provider: 'Provider',
  user: 'User',
  token: 'Token',
  team: 'Team',
  tool: 'Tool',
} as const satisfies Record<UsageGroup, string>;
const DEFAULT_RANGE = '7d';
const FILTERS = ['providerId', 'model', 'userId', 'tokenId', 'team', 'tool'] as const;

export function UsagePage({ route }: { readonly route: Route }) {
  const now = useNow(60_000);
  const query = Object.fromEntries(route.query);
  const groupBy = USAGE_GROUPS.find((group) => group === query['by']);
  const period = periodOf(query, now);
  const argument = useMemo(
    (): ArgumentOf<'ai.usage.report'> => ({
      ...(JSON.parse(JSON.stringify(period)) as Period),
      ...omitUndefined({ groupBy }),
      ...filtersOf(query, groupBy),
    }),
    // The query and the period are new objects in every rendering.
    [JSON.stringify([period, groupBy, query])],
  );
  const { shown: report, isStale } = useLastReady(useData().useQuery('ai.usage.report', argument));
  const shown = useNamedGroups(report, groupBy);
  const change = (changes: Readonly<Record<string, string>>): void => replaceQuery(route, { ...query, ...changes });
  const isOnTools = groupBy === 'tool';
  return (
    <>
      <PageTitle title="Usage" />
      <div className="usage-controls">
        <PeriodControls query={query} period={period} change={change} />
        <Choice
          label="Group by"
          value={groupBy ?? ''}
          options={[
            { value: '', label: 'None' },
            ...USAGE_GROUPS.map((value) => ({ value, label: GROUP_LABELS[value] })),
          ]}
          onChange={(by) => change({ by })}
        />
        {FILTERS.map((name) =>
          query[name] === undefined ? null : (
            <button key={name} type="button" className="button" onClick={() => change({ [name]: '' })}>
              <bdi>{query[name]}</bdi> <span aria-hidden="true">×</span>
              <span className="visually-hidden">: remove this filter</span>
            </button>
          ),
        )}
      </div>
      <WhenLoaded loaded={shown} what="the usage report">
        {(report) => (
          <div className="usage-report" aria-busy={isStale}>
            <UnknownCosts unpriced={report.unpriced} />
            <UsageCharts
              report={report}
              interval={period.interval}
              isGrouped={groupBy !== undefined}
              measures={isOnTools ? TOOL_MEASURES : MODEL_MEASURES}
            />
            <UsageTotals report={report} isOnTools={isOnTools} groupedBy={groupBy && GROUP_LABELS[groupBy]} />
          </div>
        )}
      </WhenLoaded>
    </>
  );
}

/** Labels the groups of users with their names. */
function useNamedGroups(loaded: Loaded<UsageReport>, groupBy: UsageGroup | undefined): Loaded<UsageReport> {
  const groups = groupBy === 'user' && loaded.state === 'ready' ? loaded.value.groups : [];
  const nameOf = useUserNames(groups.map(({ name }) => name ?? ''));
  if (groups.length === 0 || loaded.state !== 'ready') return loaded;
  const named = groups.map((group) => omitUndefined({ ...group, label: nameOf(group.name ?? '') }));
  return { ...loaded, value: { ...loaded.value, groups: named } };
}

interface Controls {
  readonly query: Readonly<Record<string, string>>;
  readonly period: Period;
  readonly change: (changes: Readonly<Record<string, string>>) => void;
}

function PeriodControls({ query, period, change }: Controls): ReactNode {
  const range = query['from'] === undefined ? (query['range'] ?? DEFAULT_RANGE) : 'custom';
  const first = toIsoDate(period.from);
  const last = toIsoDate(period.to - 1);
  return (
    <>
      <Choice
        label="Period"
        value={range}
        options={[...RANGES.map(({ name, label }) => ({ value: name, label })), { value: 'custom', label: 'Custom' }]}
        onChange={(value) =>
          change(value === 'custom' ? { range: '', from: first, to: last } : { range: value, from: '', to: '' })
        }
      />
      {range === 'custom' && (
        <span className="usage-dates">
          <label>
            From <input type="date" value={first} max={last} onChange={(event) => changeDate(event, 'from', last)} />
          </label>
          <label>
            To <input type="date" value={last} min={first} onChange={(event) => changeDate(event, 'to', first)} />
          </label>
        </span>
      )}
    </>
  );

  function changeDate(event: React.ChangeEvent<HTMLInputElement>, name: 'from' | 'to', other: string): void {
    const { value } = event.target;
    const [from, to] = name === 'from' ? [value, other] : [other, value];
    // While a date is being typed, it may be empty or in the wrong order.
    if (customPeriod(from, to) !== undefined) change({ range: '', from, to });
  }
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <div className="usage-choice" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

function periodOf(query: Readonly<Record<string, string>>, now: number): Period {
  const custom = customPeriod(query['from'] ?? '', query['to'] ?? '');
  if (custom !== undefined) return custom;
  const { hours } = RANGES.find(({ name }) => name === query['range']) ?? RANGES[1];
  return lastHours(hours, now);
}

/** Tool calls have no provider and no model, and only they have a tool. */
function filtersOf(
  query: Readonly<Record<string, string>>,
  groupBy: UsageGroup | undefined,
): Partial<ArgumentOf<'ai.usage.report'>> {
  const names =
    groupBy === 'tool'
      ? (['userId', 'tool'] as const)
      : (['userId', 'providerId', 'model', 'tokenId', 'team'] as const);
  return Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])));
}
