/** The filters of the list of runs. They are part of the address, so that a filtered list can be shared. */
import type { ReactNode } from 'react';
import { ActiveFilters } from '../components/list/ActiveFilters';
import { FilterBar } from '../components/list/FilterBar';
import { FilterField } from '../components/list/FilterField';
import { FilterSelect } from '../components/list/FilterSelect';
import { fromLocalTime, toLocalTime } from '../components/list/localTime';
import { useData } from '../hooks/BolideProvider';
import { changeFilters } from '../shell/queryParameters';
import type { Route } from '../shell/route';
import { describeRunFilter, RATINGS, STATE_FILTERS } from './runFilter';

/** Parameters of the filters that are behind the button. */
const MORE = [
  ...['userId', 'tool', 'tag', 'rating', 'conversationId'],
  ...['minCost', 'maxCost', 'minDuration', 'maxDuration', 'from', 'to'],
];

export function RunFilters({ route }: { readonly route: Route }) {
  const { query } = route;
  const value = (name: string): string => query.get(name) ?? '';
  const change = (name: string) => (next: string) => changeFilters(route, { [name]: next });
  const active = describeRunFilter(query);
  return (
    <>
      <FilterBar
        search={{
          value: value('search'),
          label: 'Search title, ID, user, model or tool',
          placeholder: 'Search title, ID, user, tool',
          onSearch: change('search'),
        }}
        more={<MoreFilters value={value} change={change} />}
        moreCount={active.filter(({ name }) => MORE.includes(name)).length}
      >
        <FilterSelect label="State" value={value('state')} options={STATES} onChange={change('state')} />
        <ProviderFilters value={value} change={change} />
      </FilterBar>
      <ActiveFilters
        filters={active}
        onRemove={(name) => changeFilters(route, { [name]: '' })}
        onClear={() => changeFilters(route, Object.fromEntries(active.map(({ name }) => [name, ''])))}
      />
    </>
  );
}

interface ParameterProps {
  readonly value: (name: string) => string;
  readonly change: (name: string) => (next: string) => void;
}

function ProviderFilters({ value, change }: ParameterProps) {
  const data = useData();
  const providers = data.useQuery('ai.providers.list', {});
  const models = data.useQuery('ai.models.list', {});
  const providerId = value('providerId');
  const names = (models.state === 'ready' ? models.value.models : [])
    .filter((model) => providerId === '' || model.providerId === providerId)
    .flatMap(({ model }) => model ?? []);
  return (
    <>
      <FilterSelect
        label="Provider"
        value={providerId}
        options={(providers.state === 'ready' ? providers.value : []).map(({ _id, name }) => ({
          value: _id,
          label: name,
        }))}
        onChange={change('providerId')}
      />
      <FilterSelect
        label="Model"
        value={value('model')}
        options={[...new Set(names)].sort().map((name) => ({ value: name, label: name }))}
        onChange={change('model')}
      />
    </>
  );
}

function MoreFilters({ value, change }: ParameterProps): ReactNode {
  const tools = useData().useQuery('ai.tools.list', {});
  const field = (name: string, label: string, type: 'text' | 'number' = 'text'): ReactNode => (
    <FilterField label={label} type={type} value={value(name)} onChange={change(name)} />
  );
  const time = (name: string, label: string): ReactNode => (
    <FilterField
      label={label}
      type="datetime-local"
      value={toLocalTime(value(name))}
      onChange={(text) => change(name)(fromLocalTime(text))}
    />
  );
  return (
    <>
      <FilterField
        label="Tool"
        value={value('tool')}
        suggestions={tools.state === 'ready' ? tools.value.map(({ name }) => name) : []}
        onChange={change('tool')}
      />
      {field('tag', 'Tag')}
      {field('userId', 'User ID')}
      {field('conversationId', 'Conversation ID')}
      {time('from', 'Created from')}
      {time('to', 'Created up to')}
      {field('minCost', 'Cost from ($)', 'number')}
      {field('maxCost', 'Cost up to ($)', 'number')}
      {field('minDuration', 'Duration from (s)', 'number')}
      {field('maxDuration', 'Duration up to (s)', 'number')}
      <div className="field">
        <span aria-hidden="true">Rating</span>
        <FilterSelect
          label="Rating"
          value={value('rating')}
          options={Object.entries(RATINGS).map(([rating, label]) => ({ value: rating, label }))}
          onChange={change('rating')}
        />
      </div>
    </>
  );
}

const STATES = Object.entries(STATE_FILTERS).map(([value, { label }]) => ({ value, label }));
