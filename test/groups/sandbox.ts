import { runFolders } from '../groups.ts';

runFolders(['sandbox']);
