/** Links to all pages, by group. On phones, a bar at the bottom shows the most used ones, and a button the others. */
import { useEffect, useId, useRef, useState } from 'react';
import { Icon } from '../components/Icon';
import { formatCount } from '../format/format';
import { useInboxCount } from '../inbox/useInboxCount';
import { findPage, PAGE_GROUPS, PAGES } from '../pages';
import type { Page } from '../pages';
import { linkTo } from './route';
import type { Route } from './route';

export function Navigation({ route }: { readonly route: Route }) {
  const current = findPage(route);
  const waiting = useInboxCount();
  const [isExpanded, setExpanded] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => setExpanded(false), [route]);
  return (
    <nav
      aria-label="Pages"
      className={isExpanded ? 'is-expanded' : ''}
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || !isExpanded) return;
        setExpanded(false);
        menuButton.current?.focus();
      }}
    >
      <div className="nav-groups" id={id}>
        {PAGE_GROUPS.map((group) => (
          <div key={group} className="nav-group">
            <p className="nav-group-name" id={`${id}-${group}`}>
              {group}
            </p>
            <ul aria-labelledby={`${id}-${group}`}>
              {PAGES.filter((page) => page.group === group).map((page) => (
                <PageLink key={page.path} page={page} isCurrent={page === current} waiting={waiting} />
              ))}
            </ul>
          </div>
        ))}
      </div>
      <button
        ref={menuButton}
        type="button"
        className="nav-menu"
        aria-expanded={isExpanded}
        aria-controls={id}
        onClick={() => setExpanded(!isExpanded)}
      >
        <Icon name={isExpanded ? 'cross' : 'menu'} />
        <span>{isExpanded ? 'Close' : 'More'}</span>
      </button>
    </nav>
  );
}

function PageLink({
  page: { path, label, icon, isPrimary, countsInbox, preload },
  isCurrent,
  waiting = 0,
}: {
  readonly page: Page;
  readonly isCurrent: boolean;
  readonly waiting?: number | undefined;
}) {
  return (
    <li className={isPrimary === true ? 'is-primary' : ''}>
      <a href={linkTo([path])} aria-current={isCurrent ? 'page' : undefined} onPointerEnter={preload} onFocus={preload}>
        <Icon name={icon} />
        <span>{label}</span>
        {countsInbox === true && waiting > 0 && (
          <span className="nav-count numeric">
            {formatCount(waiting)} <span className="visually-hidden">waiting</span>
          </span>
        )}
      </a>
    </li>
  );
}
