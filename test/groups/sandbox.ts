import { runAreas } from '../groups.ts';

runAreas(['sandbox']);
