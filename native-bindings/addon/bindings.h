// Each function defines its part of the Kernel interface (index.ts) on the exports.
#pragma once

#include <napi.h>

namespace gannet::addon {

void DefineConstants(Napi::Object exports);
void DefineSegments(Napi::Object exports);
void DefineVectors(Napi::Object exports);
void DefineGenerations(Napi::Object exports);
void DefineSearch(Napi::Object exports);
void DefineExpansion(Napi::Object exports);
void DefineSuggest(Napi::Object exports);
void DefineText(Napi::Object exports);
void DefinePacking(Napi::Object exports);
void DefineFiles(Napi::Object exports);
void DefineMemory(Napi::Object exports);
void DefineStop(Napi::Object exports);
void DefineMapFaults(Napi::Object exports);
void DefineServiceManager(Napi::Object exports);

}  // namespace gannet::addon
