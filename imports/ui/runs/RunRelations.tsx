/** Links between a run and those that were started from it. */
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../hooks/BolideProvider';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { Icon } from '../components/Icon';
import { linkTo } from '../shell/route';
import { FROM_TURN, STARTED_FROM } from './again';

export function RunRelations({ run }: { readonly run: RunView }) {
  const origin = run.metadata?.[STARTED_FROM];
  const turn = run.metadata?.[FROM_TURN];
  const later = useData().useQuery('ai.runs.list', {
    from: run.createdAt,
    sort: 'createdAt',
    order: 'asc',
    limit: MAX_LATER_RUNS,
  });
  const again =
    later.state === 'ready' ? later.value.runs.filter(({ metadata }) => metadata?.[STARTED_FROM] === run._id) : [];
  if (typeof origin !== 'string' && again.length === 0) return null;
  return (
    <ul className="run-relations" aria-label="Related runs">
      {typeof origin === 'string' && (
        <li data-relation="origin">
          <Icon name="arrow" />
          <span>
            {typeof turn === 'number' ? `Forked from turn ${turn} of ` : 'Run again from '}
            <a href={linkTo(['runs', origin])} className="mono">
              {origin.slice(0, 8)}
            </a>
            {' · '}
            <a href={linkTo(['runs', origin, 'diff', run._id])}>Compare</a>
          </span>
        </li>
      )}
      {again.slice(0, MAX_SHOWN).map((each) => (
        <li key={each._id} data-relation="again">
          <Icon name="arrow" />
          <span>
            {typeof each.metadata?.[FROM_TURN] === 'number'
              ? `Forked at turn ${each.metadata[FROM_TURN]} as `
              : 'Run again as '}
            <a href={linkTo(['runs', each._id])} className="mono">
              {each._id.slice(0, 8)}
            </a>{' '}
            <span className="muted">
              <bdi>{[each.providerId, each.model].filter((part) => part !== undefined).join(' / ')}</bdi>,{' '}
              {RUN_STATE_STYLES[each.state].label.toLowerCase()}
            </span>
            {' · '}
            <a href={linkTo(['runs', run._id, 'diff', each._id])}>Compare</a>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A run is usually started again soon, so that those that were are among the next ones. */
const MAX_LATER_RUNS = 100;
const MAX_SHOWN = 10;
