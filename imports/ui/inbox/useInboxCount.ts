/**
 * How many entries the inbox has, for the navigation, the title of the document and notifications; undefined while it
 * is unknown. It stays current while the page is hidden.
 */
import { useEffect } from 'react';
import { setTitleCount } from '../components/documentTitle';
import { useData } from '../hooks/BolideProvider';
import { useNotifications } from './useNotifications';

/** The newest entries, of which notifications may speak. */
const NEWEST = { order: 'desc', limit: 5 } as const;

export function useInboxCount(): number | undefined {
  const loaded = useData().useQuery('ai.inbox.list', NEWEST, { isBackground: true });
  const page = loaded.state === 'ready' ? loaded.value : undefined;
  const total = page?.counts.total;
  useEffect(() => {
    setTitleCount(total ?? 0);
    return () => setTitleCount(0);
  }, [total]);
  useNotifications(page);
  return total;
}
