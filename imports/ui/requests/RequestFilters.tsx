/** The filters of the list of requests. They are part of the address, so that a filtered list can be shared. */
import { ActiveFilters } from '../components/list/ActiveFilters';
import { FilterBar } from '../components/list/FilterBar';
import { FilterField } from '../components/list/FilterField';
import { FilterSelect } from '../components/list/FilterSelect';
import { fromLocalTime, toLocalTime } from '../components/list/localTime';
import { useData } from '../hooks/BolideProvider';
import { changeFilters } from '../shell/queryParameters';
import type { Route } from '../shell/route';
import { describeRequestFilter } from './requestFilter';
import { API_LABELS, REQUEST_STATE_STYLES, SOURCE_LABELS } from './requestLabels';

/** Parameters of the filters that are behind the button. */
const MORE = ['source', 'model', 'userId', 'tokenId', 'executionId', 'minCost', 'minDuration', 'from', 'to'];

export function RequestFilters({ route }: { readonly route: Route }) {
  const { query } = route;
  const providers = useData().useQuery('ai.providers.list', {});
  const value = (name: string): string => query.get(name) ?? '';
  const change = (name: string) => (next: string) => changeFilters(route, { [name]: next });
  const active = describeRequestFilter(query);
  const select = (name: string, label: string, options: readonly Option[]) => (
    <FilterSelect label={label} value={value(name)} options={options} onChange={change(name)} />
  );
  const field = (name: string, label: string, type: 'text' | 'number' = 'text') => (
    <FilterField label={label} type={type} value={value(name)} onChange={change(name)} />
  );
  const time = (name: string, label: string) => (
    <FilterField
      label={label}
      type="datetime-local"
      value={toLocalTime(value(name))}
      onChange={(text) => change(name)(fromLocalTime(text))}
    />
  );
  return (
    <>
      <FilterBar
        search={{
          value: value('search'),
          label: 'Search ID, user, token, model or error',
          placeholder: 'Search ID, user, token, model, error',
          onSearch: change('search'),
        }}
        more={
          <>
            <div className="field">
              <span aria-hidden="true">Source</span>
              {select('source', 'Source', SOURCES)}
            </div>
            {field('model', 'Model')}
            {field('userId', 'User ID')}
            {field('tokenId', 'API token ID')}
            {field('executionId', 'Run ID')}
            {time('from', 'Started from')}
            {time('to', 'Started up to')}
            {field('minCost', 'Cost from ($)', 'number')}
            {field('minDuration', 'Duration from (s)', 'number')}
          </>
        }
        moreCount={active.filter(({ name }) => MORE.includes(name)).length}
      >
        {select('state', 'State', STATES)}
        {select('api', 'API', APIS)}
        {select(
          'providerId',
          'Provider',
          (providers.state === 'ready' ? providers.value : []).map(({ _id, name }) => ({ value: _id, label: name })),
        )}
      </FilterBar>
      <ActiveFilters
        filters={active}
        onRemove={(name) => changeFilters(route, { [name]: '' })}
        onClear={() => changeFilters(route, Object.fromEntries(active.map(({ name }) => [name, ''])))}
      />
    </>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

const STATES: readonly Option[] = Object.entries(REQUEST_STATE_STYLES).map(([value, { label }]) => ({ value, label }));
const APIS = optionsOf(API_LABELS);
const SOURCES = optionsOf(SOURCE_LABELS);

function optionsOf(labels: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
