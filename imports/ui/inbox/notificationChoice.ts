/** Whether this browser notifies of new entries: it must permit it, and someone must have asked for it here. */
import { useSyncExternalStore } from 'react';

export type NotificationChoice = 'unsupported' | 'blocked' | 'off' | 'on';

const STORAGE_KEY = 'bolide-notifications';
const listeners = new Set<() => void>();
/** Stands in for storage that the browser blocks. */
let stored = 'off';

export function useNotificationChoice(): NotificationChoice {
  return useSyncExternalStore(subscribe, read, () => 'unsupported');
}

/** Asks for the permission if necessary, as a browser allows only upon a click. */
export async function chooseNotifications(choice: 'on' | 'off'): Promise<void> {
  if (choice === 'on' && Notification.permission === 'default') await Notification.requestPermission();
  stored = choice;
  try {
    window.localStorage.setItem(STORAGE_KEY, choice);
  } catch {
    // The choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

function read(): NotificationChoice {
  if (!('Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && storedChoice() === 'on' ? 'on' : 'off';
}

function storedChoice(): string {
  try {
    return window.localStorage.getItem(STORAGE_KEY) ?? stored;
  } catch {
    return stored;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}
