/** Runs as rows with column headings; on phones each value carries its own label instead. */
import type { ReactNode } from 'react';
import type { RunSort } from '../../business/ai/domain/interfaces/RunViewReader';
import { SortButton } from '../components/list/SortButton';
import type { RunOrder } from './runFilter';
import { RunRow } from './RunRow';
import type { RunRowView } from './RunRow';

export interface RunTableProps {
  readonly runs: readonly RunRowView[];
  readonly label: string;
  /** The order in effect, if people can change it. */
  readonly order?: RunOrder;
  readonly onSort?: (order: RunOrder) => void;
}

const COLUMNS: readonly { readonly label: string; readonly sort?: RunSort }[] = [
  { label: 'State' },
  { label: 'Run' },
  { label: 'Tokens', sort: 'tokens' },
  { label: 'Cost', sort: 'cost' },
  { label: 'Duration', sort: 'duration' },
  { label: 'Created', sort: 'createdAt' },
];

export function RunTable({ runs, label, order, onSort }: RunTableProps) {
  const heading = (sort: RunSort | undefined, text: string): ReactNode =>
    sort === undefined || order === undefined || onSort === undefined ? (
      text
    ) : (
      <SortButton
        label={text}
        order={order.sort === sort ? order.order : undefined}
        onSort={(next) => onSort({ sort, order: next })}
      />
    );
  return (
    <>
      <div
        className={onSort === undefined ? 'run-head' : 'run-head is-sortable'}
        {...(onSort === undefined ? { 'aria-hidden': true } : { role: 'group', 'aria-label': 'Sort' })}
      >
        {COLUMNS.map(({ label: text, sort }) => (
          <span key={text}>{heading(sort, text)}</span>
        ))}
      </div>
      <ul className="run-list" aria-label={label}>
        {runs.map((run) => (
          <RunRow key={run._id} run={run} />
        ))}
      </ul>
    </>
  );
}
